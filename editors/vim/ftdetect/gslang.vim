" The suffix is also that of iMatix GSL. Where a file of that language is found, name its type in a modeline, or put
" `autocmd BufRead,BufNewFile old/*.gsl setfiletype gsl` into your vimrc.
autocmd BufNewFile,BufRead *.gsl setfiletype gslang
