/** What a providerID of ours says. */
export interface ProviderId {
  /** "" when the ID names no region. */
  readonly region: string;
  readonly serverId: string;
}

const pattern = /^(?:openstack:\/\/([^/]*)\/)?([0-9a-zA-Z-]+)$/;

/** Reads openstack:///UUID, openstack://REGION/UUID, or a bare UUID; undefined when it is another provider's. */
export function parseProviderId(text: string | undefined): ProviderId | undefined {
  const match = text === undefined ? null : pattern.exec(text);
  return match?.[2] === undefined ? undefined : { region: match[1] ?? "", serverId: match[2] };
}

/** "openstack://REGION/UUID"; without a region "openstack:///UUID". */
export function formatProviderId(id: ProviderId): string {
  return `openstack://${id.region}/${id.serverId}`;
}
