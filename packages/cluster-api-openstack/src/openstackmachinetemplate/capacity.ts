import type { OpenStackMachineTemplate } from "@causeway/api";
import type { Flavor, Image } from "@causeway/openstack";

type Status = NonNullable<OpenStackMachineTemplate["status"]>;

/** What a server of a flavor offers, as resources of a Node. */
export function capacityOf(
  flavor: Flavor,
  rootVolume: { readonly sizeGiB: number } | undefined,
): NonNullable<Status["capacity"]> {
  const disk = rootVolume?.sizeGiB ?? flavor.disk;
  return {
    cpu: String(flavor.vcpus),
    memory: `${flavor.ram}Mi`,
    ...(disk > 0 ? { "ephemeral-storage": `${disk}Gi` } : {}),
  };
}

/** Names of architectures: those of Glance's property hw_architecture, and those of Nodes. */
const architectures: Readonly<Record<string, string>> = {
  x86_64: "amd64",
  amd64: "amd64",
  i686: "386",
  aarch64: "arm64",
  arm64: "arm64",
  armv7l: "arm",
  ppc64le: "ppc64le",
  s390x: "s390x",
  riscv64: "riscv64",
};

/** System and architecture by the image's properties; undefined where it has neither. */
export function nodeInfoOf(image: Image): Status["nodeInfo"] {
  const property = (name: string): string => {
    const value = (image as unknown as Readonly<Record<string, unknown>>)[name];
    return typeof value === "string" ? value.toLowerCase() : "";
  };
  const architecture = architectures[property("hw_architecture")];
  const operatingSystem = ["linux", "windows"].find((name) => name === property("os_type"));
  if (architecture === undefined && operatingSystem === undefined) return undefined;
  return { ...(operatingSystem ? { operatingSystem } : {}), ...(architecture ? { architecture } : {}) };
}
