/** The names of iptables, and the program of Debian that each is a link to, which its scripts would make. */
export const IPTABLES_LINKS: readonly (readonly [path: string, program: string])[] = ["iptables", "ip6tables"].flatMap(
  (name) => ["", "-save", "-restore"].map((end) => [`usr/sbin/${name}${end}`, "xtables-nft-multi"] as const),
);
