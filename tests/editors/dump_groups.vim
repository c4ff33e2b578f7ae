" Syntax groups of the tokens of a corpus, for the tests. g:input is JSON, path → list of [line, byte column, length in bytes];
" g:output gets path → list of [group of first, group of last].
let s:result = {}
for [s:path, s:tokens] in items(json_decode(join(readfile(g:input), "\n")))
  execute "edit" fnameescape(s:path)
  let s:result[s:path] = map(s:tokens, {_, t -> [synIDattr(synID(t[0], t[1] + 1, 1), "name"), synIDattr(synID(t[0], t[1] + t[2], 1), "name")]})
  bwipeout!
endfor
call writefile([json_encode(s:result)], g:output)
