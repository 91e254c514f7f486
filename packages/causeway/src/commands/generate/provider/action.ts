import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { InputError, messageOf } from "@causeway/foundation";
import { stringify } from "yaml";
import { makeFolder } from "../../../composition/folder.ts";
import { ownVersion } from "../../../release.ts";
import { componentsOf, releases } from "./components.ts";

/**
 * Writes a repository of our providers that clusterctl reads, and the configuration that names it.
 * @throws PROVIDER_REPOSITORY_UNWRITABLE
 */
export function generateProvider(dir: string, { image }: { readonly image: string }): void {
  const root = resolve(dir);
  const version = ownVersion();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const metadata = {
    apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3",
    kind: "Metadata",
    // clusterctl upgrades from no release whose series the newer one does not name.
    releaseSeries: Array.from({ length: minor + 1 }, (_, at) => ({ major, minor: at, contract: "v1beta2" })),
  };
  const entries = releases.map((release) => {
    const folder = join(root, `${release.label}`, `v${version}`);
    const components = componentsOf(release, image).map((object) => stringify(object, { lineWidth: 0 }));
    const templates = Object.entries(release.templates ?? {}).map(([file, objects]) => [file, yamlOf(objects)]);
    write(folder, {
      [release.file]: components.join("---\n"),
      "metadata.yaml": stringify(metadata),
      ...(Object.fromEntries(templates) as Record<string, string>),
    });
    return { name: release.provider, type: release.type, url: join(folder, release.file) };
  });
  write(root, { "clusterctl.yaml": stringify({ providers: entries }) });
  process.stdout.write(
    `clusterctl init --config ${join(root, "clusterctl.yaml")} --core cluster-api:v${version} --bootstrap kubeadm:v${version} --control-plane kubeadm:v${version} --infrastructure openstack:v${version}\n`,
  );
}

/** Documents of YAML. Texts that are all variable remain without quotes: clusterctl may put a number there. */
export function yamlOf(objects: readonly object[]): string {
  return objects.map((object) => stringify(object, { lineWidth: 0 })).join("---\n");
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    makeFolder(folder, 0o777);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  } catch (cause) {
    throw new InputError("PROVIDER_REPOSITORY_UNWRITABLE", `${folder} cannot be written: ${messageOf(cause)}`, {
      cause,
      hint: "Choose another folder.",
    });
  }
}
