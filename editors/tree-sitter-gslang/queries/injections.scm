; Comments are plain text to most readers; editors that know `comment` colour TODO, links and the like in it.
([(comment) (doc_comment)] @injection.content
  (#set! injection.language "comment"))
