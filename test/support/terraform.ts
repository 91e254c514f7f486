/** Terraform, or OpenTofu, with the provider for OpenStack of tools/terraform, in a folder of its own. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildMissing, cached, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";
import { onPath } from "../terraform/programs.ts";

const MODULE = "github.com/terraform-provider-openstack/terraform-provider-openstack/v3";
const SOURCE = "terraform-provider-openstack/openstack";

export interface TerraformTools {
  readonly program: string;
  /** Has the provider. */
  readonly dir: string;
}

/** Built at first into the user's cache directory; or why there are none. */
export async function terraformTools(): Promise<TerraformTools | { readonly reason: string }> {
  const program = onPath("terraform") ?? onPath("tofu");
  if (program === undefined) return { reason: "there is no terraform and no tofu on PATH" };
  const folder = join(root, "tools/terraform");
  const provider = { name: "terraform-provider-openstack", source: MODULE, flags: "-s -w" };
  const built = await buildMissing([provider], folder, cached(`terraform-provider-${pinnedVersion(folder, MODULE)}`));
  return "reason" in built ? built : { program, dir: built.dir };
}

export interface Printed {
  readonly code: number;
  readonly text: string;
}

export interface Terraform {
  /** URLs of services by their types, in place of the catalogue's, from now on. */
  reach(endpoints: Readonly<Record<string, string>>): void;
  /** Runs a command to its end, with this configuration of resources in place of the one before. */
  run(resources: string, ...args: readonly string[]): Promise<Printed>;
  /** Applies the configuration. @throws what Terraform printed when it failed */
  apply(resources: string): Promise<void>;
  /** What a plan would change, as it prints it; empty: nothing. @throws what it printed when it failed */
  plan(resources: string): Promise<string>;
  close(): void;
}

export interface TerraformCloud {
  /** The text of a clouds.yaml, and an entry of it. */
  readonly cloudsYaml: string;
  readonly cloud: string;
}

/** A folder with a state, which starts empty. */
export function openTerraform({ program, dir }: TerraformTools, of: TerraformCloud): Terraform {
  const folder = mkdtempSync(join(tmpdir(), "causeway-terraform-"));
  const [work, rc] = [join(folder, "work"), join(folder, "terraform.rc")];
  mkdirSync(work);
  const file = join(folder, "clouds.yaml");
  writeFileSync(file, of.cloudsYaml, { mode: 0o600 });
  writeFileSync(
    rc,
    `provider_installation {\n  dev_overrides { "${SOURCE}" = ${JSON.stringify(dir)} }\n  direct {}\n}\n`,
  );
  let overrides: readonly string[] = [];
  const header = (): string => `terraform {
  required_providers {
    openstack = { source = "${SOURCE}" }
  }
}
provider "openstack" {
  cloud = "${of.cloud}"
${overrides.length === 0 ? "" : `  endpoint_overrides = {\n${overrides.join("")}  }\n`}}
`;
  const env = {
    ...process.env,
    OS_CLIENT_CONFIG_FILE: file,
    TF_CLI_CONFIG_FILE: rc,
    TF_IN_AUTOMATION: "1",
    CHECKPOINT_DISABLE: "1",
  };
  const run = (resources: string, ...args: readonly string[]): Promise<Printed> => {
    writeFileSync(join(work, "main.tf"), `${header()}${resources}`);
    return new Promise((done) => {
      execFile(program, args, { env, cwd: work, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        done({ code, text: `${stdout}${stderr}` });
      });
    });
  };
  return {
    reach(endpoints) {
      overrides = Object.entries(endpoints).map(([type, url]) => `    "${type}" = "${url}"\n`);
    },
    run,
    async apply(resources) {
      const { code, text } = await run(resources, "apply", "-auto-approve", "-input=false", "-no-color");
      if (code !== 0) throw new Error(`terraform apply ended with ${code}: ${text}`);
    },
    async plan(resources) {
      const { code, text } = await run(resources, "plan", "-detailed-exitcode", "-input=false", "-no-color");
      if (code !== 0 && code !== 2) throw new Error(`terraform plan ended with ${code}: ${text}`);
      return code === 0 ? "" : text;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
