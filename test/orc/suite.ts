import { resolve } from "node:path";
import type { Suite } from "../support/suite-record.ts";

const reference = resolve(import.meta.dirname, "../../docs/reference");

/** Folders of internal/controllers that have tests. */
const controllers = [
  "addressscope",
  "applicationcredential",
  "domain",
  "endpoint",
  "flavor",
  "floatingip",
  "group",
  "image",
  "keypair",
  "network",
  "port",
  "project",
  "role",
  "router",
  "routerinterface",
  "securitygroup",
  "server",
  "servergroup",
  "service",
  "subnet",
  "trunk",
  "user",
  "volume",
  "volumetype",
];

export const orcSuite: Suite = {
  folder: resolve(reference, "orc"),
  page: resolve(reference, "orc.md"),
  head: `# The suites of openstack-resource-controller on the embedded API server and the simulated cloud

The kuttl suites of the release in tools/orc/go.mod, with its own manager and kuttl of the release in tools/orc/kuttl/go.mod, run by
\`npm run test:orc -- --service NAME --run TEST --parallel N\`, which keeps what became of each test in orc/NAME.json and writes this page. Images
that the suites would download from the internet come from a server on loopback that has the same files, from the module. The rate is of the
tests that were not skipped.`,
  services: controllers,
  groupOf: (name) => name,
  simulatedOnly: true,
};
