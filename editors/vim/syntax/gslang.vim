" Vim syntax of gslang rule files. Copy `syntax/` and `ftdetect/` into ~/.vim, or put this folder on the runtime path.
" The word lists are generated: python -m gslang.highlight.generate
if exists("b:current_syntax")
  finish
endif
syntax keyword gslangItem dialect use op fn rule pass test repeat
syntax keyword gslangKeyword and each else for if in is keep match not or ordered unchanged where
syntax keyword gslangKind any var input param const
syntax keyword gslangConstant none true false
syntax match gslangNumber "\v<\d+(\.\d+)?([eE][-+]?\d+)?>"
syntax match gslangArrow "=>"
syntax match gslangAnnotation "@\w\+"
syntax region gslangString start=+"+ skip=+\\.+ end=+"+ oneline
syntax match gslangComment "#.*$"
syntax match gslangDoc "##.*$"
syntax match gslangDoc "#!.*$"
highlight default link gslangItem Statement
highlight default link gslangKeyword Keyword
highlight default link gslangKind Type
highlight default link gslangConstant Constant
highlight default link gslangNumber Number
highlight default link gslangArrow Operator
highlight default link gslangAnnotation PreProc
highlight default link gslangString String
highlight default link gslangComment Comment
highlight default link gslangDoc SpecialComment
let b:current_syntax = "gslang"
