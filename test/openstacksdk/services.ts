import { resolve } from "node:path";
import type { Suite } from "../support/suite-record.ts";

const tests = "openstack.tests.functional";

/**
 * What of openstacksdk's functional tests is run: of the services that the simulated cloud has, and the layer above
 * them.
 */
export interface SdkService {
  readonly name: string;
  /** Where its tests are, dotted. */
  readonly package: string;
  /** Its tests need machines for Octavia's amphorae, which no real cloud at hand has. */
  readonly simulatedOnly?: boolean;
}

const of = (name: string): SdkService => ({ name, package: `${tests}.${name}` });

export const sdkServices: readonly SdkService[] = [
  of("image"),
  of("block_storage"),
  of("shared_file_system"),
  of("placement"),
  { ...of("load_balancer"), simulatedOnly: true },
  of("identity"),
  of("compute"),
  of("network"),
  of("cloud"),
];

const reference = resolve(import.meta.dirname, "../../docs/reference");

export const sdkSuite: Suite = {
  folder: resolve(reference, "openstacksdk"),
  page: resolve(reference, "openstacksdk.md"),
  head: `# openstacksdk's functional tests on the real and on the simulated cloud

The tests that openstacksdk brings (the library of Ansible's modules and of the stock client; its version is in tools/openstacksdk/requirements.txt),
run by \`npm run test:openstacksdk -- --cloud simulated|real --service NAME\`, which keeps what became of each test in openstacksdk/NAME.json
and writes this page. The rate is of the tests that the real cloud passes. It has none for Barbican; those for services that the simulated
cloud does not offer (DNS, orchestration, object store, bare metal, clustering, instance HA) are not run.`,
  services: sdkServices.map(({ name }) => name),
  // Run with --run, each test replaces itself.
  groupOf: (name) => name,
};
