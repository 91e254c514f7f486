/** Hostnames that a listener and a route have in common; undefined: none. An empty list: every host. */
export function commonHostnames(
  listener: string | undefined,
  route: readonly string[] | undefined,
): readonly string[] | undefined {
  const own = listener === undefined || listener === "" ? undefined : listener.toLowerCase();
  const wanted = (route ?? []).map((name) => name.toLowerCase());
  if (own === undefined) return wanted;
  if (wanted.length === 0) return [own];
  const common = wanted.flatMap((name) => intersection(own, name) ?? []);
  return common.length === 0 ? undefined : [...new Set(common)];
}

/** The narrower of two names that overlap. A wildcard of the Gateway API represents one label or more. */
function intersection(a: string, b: string): string | undefined {
  if (a === b) return a;
  const [wildA, wildB] = [a.startsWith("*."), b.startsWith("*.")];
  if (wildA && b.endsWith(a.slice(1)) && b.length > a.length - 1) return b;
  if (wildB && a.endsWith(b.slice(1)) && a.length > b.length - 1) return a;
  return undefined;
}
