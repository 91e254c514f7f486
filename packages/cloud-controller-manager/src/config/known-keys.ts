const placement = [
  "floating-network-id",
  "floating-subnet-id",
  "floating-subnet",
  "floating-subnet-tags",
  "network-id",
  "subnet-id",
  "member-subnet-id",
];

/** Every key that cloud-provider-openstack documents, by section; undefined: the section's keys are not looked at. */
const known: Readonly<Record<string, readonly string[] | undefined>> = {
  global: words(`auth-url username user-id password token region os-endpoint-type tls-insecure
    tenant-id tenant-name tenant-domain-id tenant-domain-name user-domain-id user-domain-name domain-id domain-name
    trust-id trustee-id trustee-password ca-file cert-file key-file use-clouds clouds-file cloud
    application-credential-id application-credential-name application-credential-secret`),
  networking: words("ipv6-support-disabled public-network-name internal-network-name address-sort-order"),
  route: ["router-id"],
  metadata: ["search-order", "request-timeout"],
  loadbalancer: [
    ...placement,
    ...words(`enabled lb-version lb-method lb-provider use-octavia internal-lb node-selector
      create-monitor monitor-delay monitor-timeout monitor-max-retries monitor-max-retries-down
      manage-security-groups cascade-delete flavor-id availability-zone max-shared-lb
      enable-ingress-hostname ingress-hostname-suffix container-store default-tls-container-ref
      provider-requires-serial-api-calls`),
  ],
  loadbalancerclass: placement,
  blockstorage: undefined,
};

function words(text: string): string[] {
  return text.split(/\s+/);
}

/** What is said of a section or key that nobody reads; undefined when it is known. */
export function unknownSection(section: string): string | undefined {
  return section in known ? undefined : `section [${section}] is not known${suggestion(section, Object.keys(known))}`;
}

export function unknownKey(section: string, key: string): string | undefined {
  const keys = known[section];
  if (keys === undefined || keys.includes(key)) return undefined;
  return `key ${key} of [${section}] is not known${suggestion(key, keys)}`;
}

function suggestion(word: string, among: readonly string[]): string {
  const ranked = among.map((other) => ({ other, distance: distance(word, other) }));
  const best = ranked.toSorted((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= Math.max(2, word.length / 4) ? `; is "${best.other}" meant?` : "";
}

/** Edits from one word to another (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
