// The load generator of `npm run bench -- apiserver`; the standard library only.
module causeway.invalid/load

go 1.24.0
