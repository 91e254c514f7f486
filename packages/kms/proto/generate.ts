/**
 * `node packages/kms/proto/generate.ts`: writes ../src/protocol.generated.ts from kms.proto. Needs the npm registry.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const GENERATORS = ["@bufbuild/buf@1.73.0", "@bufbuild/protoc-gen-es@2.16.0"];
const PLUGIN = `version: v2
plugins:
  - local: protoc-gen-es
    out: out
    opt: [target=ts, import_extension=ts]
`;

const work = mkdtempSync(join(tmpdir(), "kms-proto-"));
try {
  cpSync(join(import.meta.dirname, "kms.proto"), join(work, "kms.proto"));
  writeFileSync(join(work, "buf.yaml"), "version: v2\n");
  writeFileSync(join(work, "buf.gen.yaml"), PLUGIN);
  const packages = GENERATORS.flatMap((name) => ["-p", name]);
  const { status } = spawnSync("npx", ["--yes", ...packages, "buf", "generate"], { cwd: work, stdio: "inherit" });
  if (status !== 0) throw new Error(`buf ended with ${status}`);
  const generated = readFileSync(join(work, "out/kms_pb.ts"), "utf8");
  const licence = "// SPDX-License-Identifier: Apache-2.0. Made of kms.proto of k8s.io/kms by proto/generate.ts.\n";
  writeFileSync(join(import.meta.dirname, "../src/protocol.generated.ts"), licence + generated);
} finally {
  rmSync(work, { recursive: true });
}
