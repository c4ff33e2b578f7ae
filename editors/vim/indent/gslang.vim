" Indentation of gslang rule files, as the formatter has it: four columns per open bracket, two before the arrow of a rule,
" conditions below the first one. Emacs (gsl-mode.el) does the same.
if exists("b:did_indent")
  finish
endif
let b:did_indent = 1

setlocal indentexpr=GslangIndent(v:lnum)
setlocal indentkeys=0{,0},0),0],!^F,o,O,e,0=\=>,0=and,0=or,0=where,0=else,0=is,0=->
setlocal autoindent
let b:undo_indent = "setlocal indentexpr< indentkeys< autoindent<"

if exists("*GslangIndent")
  finish
endif

let s:item = '^\%(@\|\%(dialect\|fn\|op\|pass\|rule\|test\|use\)\>\)'
" What continues the line above. Binary operators stand before a space: `* k` does, `*branch.y` does not.
let s:goes_on = '^\%(->\|==\|!=\|[<>|]\|\%(\*\*\|//\|[-+*/%]\)\s\|\%(and\|or\|in\|not in\|if\|else\|is\)\>\)'

" A line without strings, comment and spaces around it, so that only brackets of the code are counted.
function! s:Code(line) abort
  let l:text = substitute(getline(a:line), '"\%([^"\\]\|\\.\)*"\|#.*$', '', 'g')
  return trim(l:text)
endfunction

" How many more brackets a piece of code opens than it closes.
function! s:Opened(code) abort
  return len(substitute(a:code, '[^{(\[]', '', 'g')) - len(substitute(a:code, '[^})\]]', '', 'g'))
endfunction

function! GslangIndent(line) abort
  let l:own = s:Code(a:line)
  if getline(a:line) =~# s:item
    return 0
  endif
  let l:depth = 0
  let l:hangs = 0  " whether the item has no braces: all behind its `=` or `:` is one step in
  let l:before = ''
  let l:start = a:line - 1
  while l:start > 1 && getline(l:start) !~# s:item
    let l:start -= 1
  endwhile
  let l:last = l:start
  for l:k in range(l:start, a:line - 1)
    let l:code = s:Code(l:k)
    if l:code !=# ''
      let l:depth += s:Opened(l:code)
      if l:depth == 0
        let l:hangs = l:code =~# '[^=<>!]=$\|:$' || l:hangs && l:code !~# ';$'
      endif
      let l:before = l:code
      let l:last = l:k
    endif
  endfor
  let l:depth += l:hangs
  if l:own =~# '^[})\]]'
    return max([l:depth - len(matchstr(l:own, '^[})\]]*')), 0]) * shiftwidth()
  elseif l:own =~# '^=>' && l:depth == 1
    return shiftwidth() / 2
  elseif l:before =~# ',$' && s:Opened(l:before) == 0 && l:before !~# '^[})\]]'
    return indent(l:last) + (l:before =~# '^where\s' ? 6 : 0)
  elseif l:own =~# s:goes_on || l:depth > l:hangs && l:before =~# '[^=<>!]=$'
    return (l:depth + 1) * shiftwidth()
  endif
  return max([l:depth, 0]) * shiftwidth()
endfunction
