" Each file of a list indented anew, for the tests: g:input is JSON, a list of paths; g:output gets path → list of lines.
let s:result = {}
for s:path in json_decode(join(readfile(g:input), "\n"))
  execute "edit" fnameescape(s:path)
  silent normal! gg=G
  let s:result[s:path] = getline(1, "$")
  bwipeout!
endfor
call writefile([json_encode(s:result)], g:output)
