/** What `--shards` says, for commands that have it. */
export const SHARDS_HELP =
  "share the work with other processes that have the same number, in place of one leader: each namespace belongs to one of so many shards, each shard to one process";
