#!/usr/bin/env bash
# Every citation leads somewhere. Reads sources, scripts and documents under ROOT and says which
#   - [KEY ...] is no key of docs/references.md, or which key there nobody cites;
#   - file that a comment or a document names does not exist;
#   - relative link or #anchor of a Markdown page leads nowhere.
#
#   citations.sh ROOT           exit 1 and one line for each violation
#   citations.sh --self-test    plants violations in a small tree and sees that each is caught
#
# A key is letters and two digits, as in QW23; keys of another form are found where they are known. In a comment, a file is
# what ends in .md, .c or .h, or begins with a directory of the tree; <NAME>, {a,b}, * and … stand for any name. A file may be named
# from the root, from src, include or tests, from the page's own directory, or, without a directory, by its name alone.
set -euo pipefail
. "$(dirname "$0")/planted.sh"

check() { # ROOT
    (
        cd "$1"
        find . \( -name .git -o -name node_modules -o -name corpus -o -name build \) -prune -o -type f -print |
            sed 's|^\./||' | sort
    ) | awk -v root="$1" '
    function complain(what) {
        printf "%s:%d: %s\n", file, line_number, what
        n_bad++
    }

    function remember(path,    name) {
        files[n_files++] = path
        is_file[path] = 1
        name = path
        sub(/^.*\//, "", name)
        is_name[name] = 1
        while (sub(/\/[^\/]*$/, "", path))
            is_dir[path] = 1
    }

    # --- Anchors of a page, as the usual readers of Markdown make them
    function slug(title) {
        gsub(/`/, "", title)
        while (match(title, /\[[^][]*\]\([^()]*\)/)) # a link: its words
            title = substr(title, 1, RSTART - 1) substr(title, RSTART + 1, index(substr(title, RSTART), "]") - 2) \
                substr(title, RSTART + RLENGTH)
        title = tolower(title)
        gsub(/[^a-z0-9 _-]/, "", title)
        gsub(/ /, "-", title)
        return title
    }

    function read_anchors(page,    line, fenced, title, n) {
        if (page in has_anchors)
            return
        has_anchors[page] = 1
        while ((getline line < (root "/" page)) > 0) {
            if (line ~ /^ *```/)
                fenced = !fenced
            else if (!fenced && line ~ /^#+ /) {
                title = line
                sub(/^#+ +/, "", title)
                title = slug(title)
                n = seen[page, title]++
                anchors[page, n ? title "-" n : title] = 1
            }
        }
        close(root "/" page)
    }

    function check_anchor(page, anchor) {
        if (anchor == "")
            return
        read_anchors(page)
        if (!((page, anchor) in anchors))
            complain(page " has no heading #" anchor)
    }

    # --- Paths
    function without_dots(path) {
        gsub(/\/\.\//, "/", path)
        sub(/^\.\//, "", path)
        while (match(path, /[^\/]+\/\.\.\//))
            path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
        return path
    }

    # The file or directory that a name stands for, "" if there is none.
    function place_of(name,    own, i, n, from, name_here) {
        own = file
        if (!sub(/\/[^\/]*$/, "/", own))
            own = ""
        n = split("|src/|include/|tests/|" own, from, "|")
        for (i = 1; i <= n; i++) {
            name_here = without_dots(from[i] name)
            if ((name_here in is_file) || (name_here in is_dir))
                return name_here
        }
        return ""
    }

    function check_name(name,    anchor, at, place, bare) {
        sub(/[.,:;]+$/, "", name)
        sub(/\/$/, "", name)
        anchor = ""
        at = index(name, "#")
        if (at > 0) {
            anchor = substr(name, at + 1)
            name = substr(name, 1, at - 1)
        }
        if (name ~ /[*<>{}$]|\.\.\.|NAME|…|node_modules/)
            return
        place = place_of(name)
        if (place == "" && name !~ /\// && ((name in is_name) || (name in is_system)))
            return
        if (place == "" && (name in is_system))
            return
        if (place == "" && name !~ /\.[a-z]+$/) { # a source without its ending, or a program that is built
            bare = name
            sub(/^.*\//, "", bare)
            if (place_of(name ".c") != "" || place_of(name ".h") != "" || (bare ".c" in is_name) || (bare ".in" in is_name))
                return
        }
        if (place == "")
            complain("there is no " name)
        else
            check_anchor(place, anchor)
    }

    # Names of files in prose.
    function check_names(text,    before, name) {
        gsub(/[a-z]+:\/\/[^ )>]*/, " ", text) # what is elsewhere
        while (match(text, /[A-Za-z0-9_.*<>{}$…\/-]*[A-Za-z0-9_*<>{}…\/-](#[a-z0-9_-]+)?/)) {
            before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
            name = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            if (before ~ /[A-Za-z0-9_"$~@=-]/ || name ~ /^\// || substr(text, 1, 1) == "(")
                continue
            if (name ~ /^[A-Za-z0-9_.\/-]+\.md(#[a-z0-9_-]+)?$/ ||
                name ~ /^[a-z0-9_\/-]+\.[ch]$/ ||
                name ~ /^(src|include|tests|bench|examples|web|scripts|docs|cmake|man|packaging)\/[^ ]/)
                check_name(name)
        }
    }

    function check_links(text,    target, page, at, anchor, own) {
        while (match(text, /\]\([^() ]+\)/)) {
            target = substr(text, RSTART + 2, RLENGTH - 3)
            text = substr(text, RSTART + RLENGTH)
            if (target ~ /^[a-z]+:/)
                continue
            at = index(target, "#")
            anchor = at > 0 ? substr(target, at + 1) : ""
            page = at > 0 ? substr(target, 1, at - 1) : target
            own = file
            if (!sub(/\/[^\/]*$/, "/", own))
                own = ""
            page = page == "" ? file : without_dots(own page)
            sub(/\/$/, "", page)
            if (!(page in is_file) && !(page in is_dir))
                complain("the link to " target " leads nowhere")
            else
                check_anchor(page, anchor)
        }
    }

    # --- Keys
    function is_key(word) { return word ~ /^[A-Z][A-Za-z]*[0-9][0-9]$/ }

    function check_keys(text,    before, group, words, n, i) {
        while (match(text, /\[[A-Z][^][]*/)) {
            before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
            group = substr(text, RSTART + 1, RLENGTH - 1)
            text = substr(text, RSTART + RLENGTH)
            if (before ~ /[A-Za-z0-9_)\]]/ || substr(text, 1, 2) == "](")
                continue
            if (group ~ /^D: /)
                complain("[" group "] is no citation: name a key or a page")
            if (group ~ /^[A-Z][a-z]+[^0-9]* (19|20)[0-9][0-9]/)
                complain("[" group "] needs a key in docs/references.md")
            n = split(group, words, /[,; ]+/)
            for (i = 1; i <= n; i++) {
                if (words[i] in keys)
                    cited[words[i]] = 1
                else if (is_key(words[i]) && (i == 1 || (words[1] in keys)))
                    complain("[" words[i] "] is no key of docs/references.md")
            }
        }
    }

    function read_keys(    line, key) {
        while ((getline line < (root "/docs/references.md")) > 0)
            if (match(line, /^- \*\*\[[A-Za-z0-9]+\]\*\*/)) {
                key = substr(line, 6, RLENGTH - 8)
                keys[key] = 1
                order[n_keys++] = key
            }
        close(root "/docs/references.md")
    }

    # --- Files
    # The comments of a line of C, JavaScript or CSS.
    function comment_of(line,    out, c, two, i, quote) {
        out = ""
        quote = ""
        for (i = 1; i <= length(line); i++) {
            c = substr(line, i, 1)
            two = substr(line, i, 2)
            if (in_comment) {
                if (two == "*/") { in_comment = 0; i++; out = out " " }
                else out = out c
            } else if (quote != "") {
                if (c == "\\") i++
                else if (c == quote) quote = ""
            } else if (two == "/*") { in_comment = 1; i++ }
            else if (two == "//") return out substr(line, i + 2)
            else if (c == "\"" || c == "\047") quote = c
        }
        return out
    }

    function check_page(    line, fenced, text) {
        while ((getline line < (root "/" file)) > 0) {
            line_number++
            if (line ~ /^ *```/)
                fenced = !fenced
            if (fenced)
                continue
            if (file != "docs/references.md")
                check_keys(line)
            check_links(line)
            text = line
            gsub(/\[[^][]*\]\([^() ]*\)/, " ", text)
            if (file != "CHANGELOG.md") # which tells of what was
                check_names(text)
        }
    }

    function check_source(    line, text) {
        in_comment = 0
        while ((getline line < (root "/" file)) > 0) {
            line_number++
            if (file ~ /\.([chj]|js|css)$/) {
                if (index(line, "[") > 0)
                    check_keys(line)
                text = in_comment || index(line, "/") > 0 ? comment_of(line) : ""
            } else {
                check_keys(line)
                text = match(line, /(^|[ \t])#/) ? substr(line, RSTART + RLENGTH) : ""
            }
            if (text != "")
                check_names(text)
        }
    }

    function read_includes(path,    line) {
        while ((getline line < (root "/" path)) > 0)
            if (line ~ /^[ \t]*#[ \t]*include[ \t]*</) {
                sub(/^[^<]*</, "", line)
                sub(/>.*$/, "", line)
                is_system[line] = 1
            }
        close(root "/" path)
    }

    { remember($0) }

    END {
        read_keys()
        if (n_keys == 0) { print "citations: no keys in " root "/docs/references.md"; exit 2 }
        for (k = 0; k < n_files; k++)
            if (files[k] ~ /^(src|include|tests|bench|examples)\/.*\.[ch]$/)
                read_includes(files[k])
        for (k = 0; k < n_files; k++) {
            file = files[k]
            line_number = 0
            if (file == "tests/house/citations.sh") # which plants what it looks for
                continue
            if (file ~ /\.md$/)
                check_page()
            else if (file ~ /^(src|include|tests|bench|examples|web|scripts|cmake|man|packaging)\// &&
                     file ~ /(\.(c|h|js|css|sh|py|cmake|yaml|yml|txt|test|[1-8])|\/[a-z-]+)$/)
                check_source()
            else
                continue
            close(root "/" file)
            n_read++
        }
        file = "docs/references.md"
        line_number = 1
        for (k = 0; k < n_keys; k++)
            if (!(order[k] in cited))
                complain("nobody cites [" order[k] "]")
        printf "%d files, %d keys, %d violations\n", n_read, n_keys, n_bad
        exit n_bad > 0
    }'
}

# A small tree of its own, each time with one line more.
self_test() {
    plant() { # EXPECTED("clean" or a part of the complaint) FILE LINE…
        local complaint=$1 where=$2
        shift 2
        rm -rf "$box/tree"
        mkdir -p "$box/tree/docs/why" "$box/tree/src/plan" "$box/tree/tests/house" "$box/tree/$(dirname "$where")"
        printf '%s\n' '# References' '- **[QW23]** A paper.' '- **[DLMF]** Tables.' >"$box/tree/docs/references.md"
        printf '%s\n' '# Why' '## `C`, and what [it](x.md) costs' '## Twice' '## Twice' '```' '# Not one' '```' >"$box/tree/docs/why/x.md"
        echo '/* [QW23, eq. 5; DLMF 8.17] */' >"$box/tree/src/plan/cited.h"
        printf '%s\n' "$@" >>"$box/tree/$where"
        expect "$complaint" "$where: '$*'" "$box/tree"
    }

    plant clean src/plan/a.c '/* [QW23]; see cited.h, plan/cited.h, docs/why/x.md#twice-1, src/plan/<name>.c. */' 'x[A12] = "gone.h [b.md](b.md)";'
    plant clean docs/why/y.md '[x](x.md#c-and-what-it-costs), [up](../references.md), [that](https://a.b/c.md), `src/plan`, [QW23]'
    plant clean docs/why/y.md '```' '[no](gone.md)' '```'
    plant clean CHANGELOG.md 'src/plan/gone.c went'
    plant '[QW24] is no key' src/plan/a.c '/* [QW24] */'
    plant '[QW24] is no key' src/plan/a.c 'const char *where = "[QW24, eq. 1]";'
    plant '[ZZ99] is no key' docs/why/y.md 'as in [QW23, eq. 5; ZZ99]'
    plant '[CZ22] is no key' scripts/papers 'echo "[CZ22] says"'
    plant 'is no citation' src/plan/a.c '/* moves by 2 [D: sensitivities] */'
    plant 'needs a key' src/plan/a.c '/* RiverSwim [Strehl and Littman 2008] */'
    plant 'there is no kernel.md' src/plan/a.c '/* widths [kernel.md 5] */'
    plant 'there is no docs/why/gone.md' src/plan/a.c 'int x; // docs/why/gone.md'
    plant 'has no heading #not-one' src/plan/a.c '/*' ' * docs/why/x.md#not-one */'
    plant 'there is no src/plan/gone.c' docs/why/y.md 'in `src/plan/gone.c`'
    plant 'there is no plan/gone.h' src/plan/a.c '/* See plan/gone.h. */'
    plant 'there is no gone.h' src/plan/a.c '/* See gone.h. */'
    plant 'there is no docs/gone.md' tests/house/a.sh '# see docs/gone.md'
    plant 'gone.md leads nowhere' docs/why/y.md '[x](gone.md)'
    plant 'src/plan/b.c leads nowhere' README.md '[x](src/plan/b.c)'
    plant 'has no heading #thrice' docs/why/y.md '[x](x.md#thrice)'
    plant 'has no heading #gone' docs/why/x.md '[x](#gone)'
    plant 'nobody cites [ZZ99]' docs/references.md '- **[ZZ99]** Another paper.'
}

check_or_self_test "$@"
