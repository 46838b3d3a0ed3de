# A made-up log of an A/B/C test for docs/tutorials/personalization.md: 20,000 visits to a shop, a banner drawn at
# random for each, and whether it was clicked. Young visitors like `games`, older ones `garden`, and visitors from FR
# `wine`. Always the same numbers.
#
#   awk -f examples/tutorial/visits.awk >visits.csv
function draw() { # a number in [0, 1), by a generator of our own so that every awk gives the same
    seed = (seed * 16807) % 2147483647
    return seed / 2147483647
}
BEGIN {
    seed = 20240101
    split("games garden wine", banner, " ")
    split("DE FR IT", country, " ")
    print "visitor,age,country,banner,chance,click"
    for (i = 0; i < 20000; i++) {
        age = 18 + int(60 * draw())
        place = country[1 + int(3 * draw())]
        shown = banner[1 + int(3 * draw())]
        rate = 0.05
        if (shown == "games" && age < 40) rate = 0.25
        if (shown == "garden" && age >= 55) rate = 0.25
        if (shown == "wine" && place == "FR") rate = 0.2
        print "v" i + 1 "," age "," place "," shown ",0.333333," (draw() < rate ? 1 : 0)
    }
}
