import { resolve } from "node:path";
import type { Suite } from "../support/suite-record.ts";

/** What of tempest is run for each service. */
export interface TempestService {
  readonly name: string;
  /** Whose tests: a prefix of their names. */
  readonly prefix: string;
  /**
   * Octavia's provider whose load balancers are made; "ovn" by default, since devcloud's amphorae have no agent that
   * answers.
   */
  readonly provider?: "amphora";
  /** On the simulated cloud it needs all of `causeway up`. */
  readonly system?: true;
  /** Tests whose tear-down deletes the user that their class was set up with. */
  readonly isolated?: RegExp;
}

export const tempestServices: readonly TempestService[] = [
  { name: "identity", prefix: "tempest.api.identity." },
  { name: "image", prefix: "tempest.api.image." },
  { name: "volume", prefix: "tempest.api.volume." },
  { name: "network", prefix: "tempest.api.network." },
  { name: "compute", prefix: "tempest.api.compute." },
  { name: "octavia", prefix: "octavia_tempest_plugin.tests.api." },
  { name: "octavia-amphora", prefix: "octavia_tempest_plugin.tests.api.", provider: "amphora" },
  { name: "magnum", prefix: "magnum_tempest_plugin.tests.api.", system: true, isolated: /\.ClusterTest\./ },
];

const reference = resolve(import.meta.dirname, "../../docs/reference");

export const tempestSuite: Suite = {
  folder: resolve(reference, "tempest"),
  page: resolve(reference, "tempest.md"),
  head: `# Tempest on the real and on the simulated cloud

Debian's tempest, octavia-tempest-plugin and magnum-tempest-plugin, run by \`npm run test:tempest -- --cloud simulated|real --service NAME\`, which keeps what
became of each test in tempest/NAME.json and writes this page. The rate is of the tests that the real cloud passes.`,
  services: tempestServices.map(({ name }) => name),
  groupOf: classOf,
};

/** The class of a test, or the class that a failure of set-up or tear-down names; without the service's prefix. */
export function classOf(name: string): string {
  const whole = /^(?:setUpClass|tearDownClass) \((.*)\)$/.exec(name)?.[1];
  return whole ?? name.slice(0, name.lastIndexOf("."));
}
