import { resolve } from "node:path";
import type { Suite } from "../support/suite-record.ts";

const reference = resolve(import.meta.dirname, "../../docs/reference");

/**
 * Tests by service: what their names begin with. The others are of services that neither cloud has: see the page's
 * head.
 */
export const patterns: Readonly<Record<string, RegExp>> = {
  networking: /^TestAcc(?:OpenStack)?Networking/,
  compute: /^TestAccCompute/,
  loadbalancer: /^TestAcc(?:DataSource)?(?:LB|LoadBalancer)/,
  identity: /^TestAcc(?:OpenStack)?Identity/,
  blockstorage: /^TestAccBlock[Ss]torage/,
  images: /^TestAcc(?:OpenStack)?Images/,
  keymanager: /^TestAccKeyManager/,
  sharedfilesystem: /^TestAccSFS/,
  containerinfra: /^TestAccContainerInfra/,
};

export const terraformSuite: Suite = {
  folder: resolve(reference, "terraform"),
  page: resolve(reference, "terraform.md"),
  head: `# The Terraform provider's acceptance tests on the simulated cloud

The tests of the release in tools/terraform/go.mod, run by \`npm run test:terraform -- --cloud simulated|real --service NAME --run PATTERN\`
with the \`terraform\` of PATH, else its \`tofu\`. Each test has a process of its
own, as the administrator and, if it asks for another user, as a member. What became of each is kept in terraform/NAME.json, from which this
page is written. Not run are tests of services that the simulated cloud does not have: DNS, object storage, firewalls, VPN, BGP VPN,
tap mirrors, databases, Heat, workflows, and TLS of the provider itself. A test without a service of its own in the cloud is skipped by
itself. The rate is of the tests that were not skipped. Those of containerinfra are on the Magnum API of \`causeway up\`; upstream skips most
of them since its CI cannot create clusters: they are built without that line, and nothing else of them is changed.`,
  services: Object.keys(patterns),
  groupOf: (name) => name,
  simulatedOnly: true,
};
