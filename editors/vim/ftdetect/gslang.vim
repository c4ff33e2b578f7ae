autocmd BufNewFile,BufRead *.gsl setfiletype gslang
