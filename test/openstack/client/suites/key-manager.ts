import type { Suite } from "../suite.ts";

/** Secrets. Everything is known by its URL: {name} is the id in it. */
export const suites: readonly Suite[] = [
  {
    name: "secrets",
    lines: `
      secret= secret store --name {p}-one --payload hidden --payload-content-type text/plain --algorithm aes --bit-length 256 --mode cbc --secret-type opaque
      secret get {secret}
      secret get {secret} --payload
      secret list --name {p}-one
      secret list --name {p}-nothing
      bytes= secret store --name {p}-bytes --payload aGlkZGVu --payload-content-type application/octet-stream --payload-content-encoding base64 --expiration 2040-01-01T00:00:00
      secret get {bytes}
      secret get {bytes} --payload
      secret list --name {p}-bytes
      empty= secret store --name {p}-empty
      secret get {empty}
      secret get {empty} --payload
      secret update {empty} later
      secret get {empty} --payload
      secret update {empty} again
      secret store --name {p}-bad --payload hidden --payload-content-type nonsense
      secret store --name {p}-bad --payload hidden --payload-content-type text/plain --secret-type nonsense
      secret store --name {p}-bad --payload hidden --payload-content-type text/plain --expiration 2001-01-01T00:00:00
      secret store --name {p}-bad --payload hidden --payload-content-type text/plain --bit-length -1
      alt: secret get {secret}
      reader: secret get {secret}
      acl get {secret}
      acl submit {secret} --user 3c1d6b228a4c4d5a9f0b111111111111
      acl user add {secret} --user 3c1d6b228a4c4d5a9f0b222222222222
      acl user remove {secret} --user 3c1d6b228a4c4d5a9f0b111111111111
      acl submit {secret} --no-project-access
      acl get {secret}
      acl delete {secret}
      alt: acl get {secret}
      container= secret container create --name {p}-container --type generic --secret one={secret}
      secret container get {container}
      secret container list --name {p}-container
      secret container create --name {p}-rsa --type rsa --secret private_key={secret}
      certificate= secret container create --name {p}-certificate --type certificate --secret certificate={secret}
      secret container create --name {p}-bad --type nonsense
      alt: secret container get {container}
      secret container delete {container}
      secret container delete {certificate}
      secret container get {container}
      secret container delete {container}
      order= secret order create key --name {p}-order --algorithm aes --bit-length 256 --mode cbc --payload-content-type application/octet-stream
      secret order create nonsense
      secret order create key --name {p}-bad --algorithm nonsense --bit-length 256 --mode cbc
      secret order list -c Type
      secret delete {secret}
      secret delete {bytes}
      secret delete {empty}
      secret get {secret}
      secret delete {secret}
      secret get nonsense
      secret order delete {order}
      secret order get {order}
      ca list
    `,
  },
];
