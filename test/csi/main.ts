/**
 * `npm run test:csi [-- --focus TEXT]`: csi-sanity of kubernetes-csi/csi-test, whole, against cinder-csi on a simulated cloud. The node part mounts
 * loop devices, so this needs root. Writes docs/reference/csi.md. The last line is "N passed, N failed, N skipped".
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, run } from "../../scripts/kubernetes-programs.ts";
import { pageOf } from "./page.ts";
import { openCsiPlace } from "./place.ts";
import { specsOf } from "./report.ts";

const { values } = parseArgs({ options: { focus: { type: "string" } } });
const program = process.env["CAUSEWAY_CSI_SANITY"];
if (program === undefined) throw new Error("run it as: npm run test:csi");

const place = await openCsiPlace();
try {
  const report = join(place.dir, "report.xml");
  const args = [
    `--csi.endpoint=${place.endpoint}`,
    `--csi.mountdir=${join(place.dir, "target")}`,
    `--csi.stagingdir=${join(place.dir, "staging")}`,
    "--csi.testvolumesize=1073741824",
    "--csi.testvolumeexpandsize=2147483648",
    `--ginkgo.junit-report=${report}`,
    "--ginkgo.no-color",
    ...(values.focus === undefined ? [] : [`--ginkgo.focus=${values.focus}`]),
  ];
  await run(program, args, { cwd: place.dir, env: process.env });
  const specs = specsOf(readFileSync(report, "utf8"));
  rmSync(report);
  for (const { name, status, reason } of specs) if (status !== "passed") console.log(`${status} ${name}: ${reason}`);
  const count = (status: string) => specs.filter((spec) => spec.status === status).length;
  if (values.focus === undefined) writeFileSync(join(root, "docs/reference/csi.md"), pageOf(specs));
  console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
  process.exitCode = specs.length === 0 || count("failed") > 0 ? 1 : 0;
} finally {
  await place.close();
}
