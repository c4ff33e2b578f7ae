" Settings for gslang rule files, and `:GslangFormat`.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:##,:#!,:# commentstring=#\ %s
setlocal expandtab shiftwidth=4 softtabstop=4 textwidth=100
setlocal formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.gsl
setlocal define=^\\s*\\(rule\\\|fn\\\|op\\\|pass\\)\\s\\+
" `:make` runs the linter; its findings go into the quickfix list.
setlocal makeprg=gslc\ lint\ --format\ concise\ %:S
setlocal errorformat=%f:%l:%c:\ %m
command! -buffer -bar GslangFormat call s:Format()
let b:undo_ftplugin = "setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< textwidth< formatoptions< "
      \ . "suffixesadd< define< makeprg< errorformat< | silent! delcommand -buffer GslangFormat"

if exists("*s:Format")
  finish
endif

" The buffer through `gslc fmt -`. Where the text has errors it stays, and the first one is shown.
function! s:Format() abort
  let l:old = getline(1, "$")
  let l:new = systemlist("gslc fmt -", l:old)
  if v:shell_error
    echohl ErrorMsg | echomsg get(l:new, 0, "gslc fmt failed") | echohl None
    return
  endif
  if l:new ==# l:old
    return
  endif
  let l:view = winsaveview()
  call setline(1, l:new)
  if line("$") > len(l:new)
    call deletebufline("%", len(l:new) + 1, "$")
  endif
  call winrestview(l:view)
endfunction
