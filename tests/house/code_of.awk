# A line of C without comments, strings and character constants. A comment may go on over lines.
function code_of(line,    out, i, c, two, quote) {
    out = ""
    quote = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (quote != "") {
            if (c == "\\") i++
            else if (c == quote) quote = ""
        } else if (two == "/*") { in_comment = 1; i++ }
        else if (two == "//") break
        else if (c == "\"" || c == "\047") quote = c
        else out = out c
    }
    return out
}
