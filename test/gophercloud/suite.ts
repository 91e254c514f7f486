import { resolve } from "node:path";
import type { Suite } from "../support/suite-record.ts";

const reference = resolve(import.meta.dirname, "../../docs/reference");

/** Folders of gophercloud's internal/acceptance/openstack, with all that is below them. */
const services = [
  "compute",
  "networking",
  "loadbalancer",
  "identity",
  "blockstorage",
  "image",
  "keymanager",
  "placement",
  "sharedfilesystems",
  "containerinfra",
];

export const gophercloudSuite: Suite = {
  folder: resolve(reference, "gophercloud"),
  page: resolve(reference, "gophercloud.md"),
  head: `# gophercloud's acceptance tests on the real and on the simulated cloud

The tests of the release in tools/gophercloud/go.mod, each in a process of its own, run by \`npm run test:gophercloud -- --cloud
simulated|real --service NAME --run PATTERN\`, which keeps what became of each in gophercloud/NAME.json and writes this page. The rate is
of the tests that the real cloud passes.`,
  services,
  groupOf: (name) => name,
};
