/**
 * `npm run test:csi [-- --focus TEXT] [-- --driver NAME] [-- --real ENTRY]`: csi-sanity of kubernetes-csi/csi-test,
 * whole, against our CSI drivers on a simulated cloud. The node part of cinder-csi mounts loop devices, so this needs
 * root. Writes docs/reference/csi.md. The last line is "N passed, N failed, N skipped". With --real they run against
 * cinder-csi, and against manila-csi with NFS, on the cloud of that entry of clouds.yaml, and no page is written: all
 * of them on tools/devcloud of this machine, whose servers' disks are here; on another cloud cinder-csi's of the
 * controller.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, run } from "../../scripts/kubernetes-programs.ts";
import { openManilaPlace, openRealManilaPlace } from "./manila-place.ts";
import { pageOf, type DriverResult } from "./page.ts";
import { openCsiPlace } from "./place.ts";
import { openRealPlace } from "./real-place.ts";
import { specsOf, type SpecResult } from "./report.ts";

const { values } = parseArgs({
  options: { focus: { type: "string" }, driver: { type: "string" }, real: { type: "string" } },
});
const program = process.env["CAUSEWAY_CSI_SANITY"];
if (program === undefined) throw new Error("run it as: npm run test:csi");

/** Where a driver is served. */
interface Place {
  readonly endpoint: string;
  readonly dir: string;
  /** The server's devices are not on this machine. */
  readonly isControllerOnly?: boolean;
  /** A file with the Secrets of csi-sanity's calls. */
  readonly secrets?: string;
  close(): Promise<void>;
}

/** What needs no device: no spec that stages a volume. */
const CONTROLLER = "\\[Controller Server\\]|Identity Service";
const STAGING = "volume lifecycle|after node-publish";

const simulated: readonly { readonly name: string; readonly open: () => Promise<Place> }[] = [
  { name: "cinder-csi", open: () => openCsiPlace() },
  { name: "manila-csi NFS", open: () => openManilaPlace("NFS") },
  { name: "manila-csi CephFS", open: () => openManilaPlace("CEPHFS") },
];

const { real } = values;
const onReal = (entry: string): typeof simulated => [
  { name: `cinder-csi on ${entry}`, open: () => openRealPlace(entry) },
  { name: `manila-csi NFS on ${entry}`, open: () => openRealManilaPlace("NFS", entry) },
];
const drivers = real === undefined ? simulated : onReal(real);

async function sanity(place: Place): Promise<readonly SpecResult[]> {
  const report = join(place.dir, "report.xml");
  const args = [
    `--csi.endpoint=${place.endpoint}`,
    `--csi.mountdir=${join(place.dir, "target")}`,
    `--csi.stagingdir=${join(place.dir, "staging")}`,
    "--csi.testvolumesize=1073741824",
    "--csi.testvolumeexpandsize=2147483648",
    ...(place.secrets === undefined ? [] : [`--csi.secrets=${place.secrets}`]),
    `--ginkgo.junit-report=${report}`,
    "--ginkgo.no-color",
    ...(values.focus === undefined ? [] : [`--ginkgo.focus=${values.focus}`]),
    ...(place.isControllerOnly === true ? [`--ginkgo.focus=${CONTROLLER}`, `--ginkgo.skip=${STAGING}`] : []),
  ];
  await run(program ?? "", args, { cwd: place.dir, env: process.env });
  const specs = specsOf(readFileSync(report, "utf8"));
  rmSync(report);
  return specs;
}

const results: DriverResult[] = [];
for (const { name, open } of drivers.filter((driver) => (values.driver ?? driver.name) === driver.name)) {
  const place = await open();
  try {
    const specs = await sanity(place);
    results.push({ name, specs });
    for (const { name: spec, status, reason } of specs)
      if (status !== "passed") console.log(`${name}: ${status} ${spec}: ${reason}`);
  } finally {
    await place.close();
  }
}
if (values.focus === undefined && values.driver === undefined && real === undefined)
  writeFileSync(join(root, "docs/reference/csi.md"), pageOf(results));
const count = (status: string) =>
  results.reduce((sum, { specs }) => sum + specs.filter((spec) => spec.status === status).length, 0);
console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
process.exitCode = results.some(({ specs }) => specs.length === 0) || count("failed") > 0 ? 1 : 0;
