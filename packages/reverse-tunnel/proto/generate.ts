/**
 * `node packages/reverse-tunnel/proto/generate.ts`: writes ../src/protocol/protocol.generated.ts from client.proto.
 * Needs the npm registry.
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

const work = mkdtempSync(join(tmpdir(), "tunnel-proto-"));
try {
  cpSync(join(import.meta.dirname, "client.proto"), join(work, "client.proto"));
  writeFileSync(join(work, "buf.yaml"), "version: v2\n");
  writeFileSync(join(work, "buf.gen.yaml"), PLUGIN);
  const packages = GENERATORS.flatMap((name) => ["-p", name]);
  const { status } = spawnSync("npx", ["--yes", ...packages, "buf", "generate"], { cwd: work, stdio: "inherit" });
  if (status !== 0) throw new Error(`buf ended with ${status}`);
  const generated = readFileSync(join(work, "out/client_pb.ts"), "utf8");
  const licence =
    "// SPDX-License-Identifier: Apache-2.0. Made of client.proto of sigs.k8s.io/apiserver-network-proxy by proto/generate.ts.\n";
  writeFileSync(join(import.meta.dirname, "../src/protocol/protocol.generated.ts"), licence + withoutEnums(generated));
} finally {
  rmSync(work, { recursive: true });
}

/** Node removes types from a file, but it does not translate enumerations. */
function withoutEnums(source: string): string {
  return source.replaceAll(/^export enum (\w+) \{\n(.*?)^\}$/gms, (_, name: string, body: string) => {
    const members = body.replaceAll(/^( *)(\w+) = (\d+),$/gm, "$1$2: $3,");
    return `export const ${name} = {\n${members}} as const;\nexport type ${name} = (typeof ${name})[keyof typeof ${name}];`;
  });
}
