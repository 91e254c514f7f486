/** Clusters that both servers have, in one project. */
export interface Rows {
  readonly clusters: readonly Cluster[];
  readonly templateUUID: string;
  readonly projectID: string;
  readonly userID: string;
}

export interface Cluster {
  readonly uuid: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodes: number;
}

/** So many clusters of 1 to 5 nodes; ids are in the order of creation, as those that our API makes. */
export function makeRows(count: number, owner: Pick<Rows, "projectID" | "userID">): Rows {
  const idOf = (at: number): string => `01980000-0000-7000-8000-${at.toString(16).padStart(12, "0")}`;
  const clusters = Array.from({ length: count }, (_, at) => ({
    uuid: idOf(at + 1),
    name: `bench-${at}`,
    labels: { kube_tag: "v1.34.0", boot_volume_size: "20", cluster_owner: `team-${at % 40}` },
    nodes: 1 + (at % 5),
  }));
  return { clusters, templateUUID: idOf(0), ...owner };
}
