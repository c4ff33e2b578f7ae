"""Terms in normal form over symbolic sizes: what is known of sizes, uses of laws, cases, words of bits."""
