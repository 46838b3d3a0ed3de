#!/bin/sh
# American spelling, in the whole tree: names, comments, messages, documents.
#
#   spelling.sh ROOT            exit 1 and one line for each violation
#   spelling.sh --self-test     plants violations in a small tree and sees that each is caught
#
# The list has the words that were found in this tree, their relatives, and those that writers of British English are
# most likely to add. Words that are spelled with -ise in America too (noise, promise, raise, ...) are not in it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/planted.sh"

# Parts of words, so that names are found as well: check_neighbours, no_colour.
british='neighbour|behaviour|favour|flavour|honour|colour|labour|rumour|vapour|endeavour'
british="$british|labell|cancell(ed|ing|er)|travell|modell(ed|ing|er)|signall|levell(ed|ing)|tunnell|channell|fuell|equall(ed|ing)"
british="$british|centre|centring|centred|theatre|fibre|(milli|centi|kilo)metre|calibre"
british="$british|analyse|analysing|paralyse|catalogue|licence|defence|offence|pretence|judgement|artefact|sceptic"
british="$british|(author|central|character|custom|digit|discret|emphas|equal|factor|final|general|harmon|initial"
british="$british|linear|local|maxim|memor|minim|neutral|normal|optim|organ|parallel|parametr|penal|priorit|privat|quant|random"
british="$british|real|recogn|regular|serial|special|stabil|standard|summar|symbol|synchron|token|util|vector|visual)is(e|ed|es|er|ing|ation)"
british="$british|[^a-z](learnt|spelt|burnt|dreamt|whilst|amongst|fulfil|skilful|wilful|grey|tyre|cheque|ageing)([^a-z]|$)"

# What must stay as it is: an attribute of HTML; a name from which an audit draws its seeds; a column of saved results; two
# labels of examples, from which their noise is drawn (another spelling would change results); names that the changelog quotes.
allowed() {
    sed -e 's/aria-labelledby//g' \
        -e 's/"audit: neighbours"//' \
        -e 's/\(remark\|people\|  \),* *labelled\( INTEGER\|, remark\)//' \
        -e '/^\.\/CHANGELOG\.md:/s/`[a-z_]*`//g' \
        -e 's/label: \("UCRL-VTR, joint 1, \)\{0,1\}not centred//'
}

check() { # ROOT
    found=$(cd "$1" && find . -type f ! -path './build*' ! -path './.git/*' ! -path '*/node_modules/*' \
        ! -path './tests/house/spelling.sh' ! -path './tests/oracle/*' ! -path './tests/fuzz/corpus/*' \
        ! -path './docs/references.md' -print0 | sort -z |
        xargs -0 grep -InHiE "$british" | allowed | grep -iE "^[^:]*:[0-9]*:.*($british)") || found=
    [ -z "$found" ] && return 0
    echo "$found"
    return 1
}

self_test() {
    mkdir -p "$box/src"
    echo '/* A labeled neighbor in the center promises noise otherwise; behavior is analyzed. */' >"$box/src/one.c"
    expect clean 'a sound tree' "$box"
    for word in check_neighbours labelled No_Colour centres catalogue Randomised 'is learnt.' cancelled; do
        echo "int x; /* $word */" >"$box/src/two.c"
        expect 'src/two.c:1:' "$word" "$box"
    done
    echo '<p aria-labelledby="x">' >"$box/src/two.c"
    expect clean 'an attribute of HTML' "$box"
    echo '<p aria-labelledby="x" class="labelled">' >"$box/src/two.c"
    expect 'src/two.c:1:' 'a word beside one that is allowed' "$box"
}

check_or_self_test "$@"
