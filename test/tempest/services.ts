/** What of tempest is run for each service. */
export interface TempestService {
  readonly name: string;
  /** Whose tests: a prefix of their names. */
  readonly prefix: string;
  /** Octavia's provider whose load balancers are made; "ovn" unless told, since devcloud's amphorae have no agent that answers. */
  readonly provider?: "amphora";
}

export const tempestServices: readonly TempestService[] = [
  { name: "identity", prefix: "tempest.api.identity." },
  { name: "image", prefix: "tempest.api.image." },
  { name: "volume", prefix: "tempest.api.volume." },
  { name: "network", prefix: "tempest.api.network." },
  { name: "compute", prefix: "tempest.api.compute." },
  { name: "octavia", prefix: "octavia_tempest_plugin.tests.api." },
  { name: "octavia-amphora", prefix: "octavia_tempest_plugin.tests.api.", provider: "amphora" },
];
