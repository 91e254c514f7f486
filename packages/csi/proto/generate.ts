/**
 * `node packages/csi/proto/generate.ts`: writes ../src/protocol.generated.ts from csi.proto, and
 * ../src/registration.generated.ts. Needs the npm registry.
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

const work = mkdtempSync(join(tmpdir(), "csi-proto-"));
try {
  for (const name of ["csi", "registration"])
    cpSync(join(import.meta.dirname, `${name}.proto`), join(work, `${name}.proto`));
  writeFileSync(join(work, "buf.yaml"), "version: v2\n");
  writeFileSync(join(work, "buf.gen.yaml"), PLUGIN);
  const packages = GENERATORS.flatMap((name) => ["-p", name]);
  const { status } = spawnSync("npx", ["--yes", ...packages, "buf", "generate"], { cwd: work, stdio: "inherit" });
  if (status !== 0) throw new Error(`buf ended with ${status}`);
  const generated = (name: string) => withoutEnums(readFileSync(join(work, `out/${name}_pb.ts`), "utf8"));
  const write = (name: string, text: string) =>
    writeFileSync(join(import.meta.dirname, `../src/${name}.generated.ts`), text);
  const licence =
    "// SPDX-License-Identifier: Apache-2.0. Made of csi.proto of the Container Storage Interface by proto/generate.ts.\n";
  write("protocol", licence + generated("csi"));
  write("registration", `// Made of registration.proto by proto/generate.ts.\n${generated("registration")}`);
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
