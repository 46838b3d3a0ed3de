# cmake -DOUT=FILE.c "-DFILES=NAME;PATH;NAME;PATH…" -P embed.cmake: every file as tacit__asset_NAME. A path of `none`
# gives size 0.
set(text "/* Made by cmake/embed.cmake. */\n#include \"base/assets.h\"\n")
while(FILES)
  list(POP_FRONT FILES name path)
  set(size 0)
  set(bytes "0")
  if(NOT path STREQUAL "none")
    file(SIZE "${path}" size)
    file(READ "${path}" hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  endif()
  string(APPEND text "\nstatic const unsigned char ${name}[] = {\n${bytes}\n};\n"
                     "const tacit__asset tacit__asset_${name} = {${name}, ${size}};\n")
endwhile()
file(WRITE "${OUT}" "${text}")
