import type { Cloud } from "@causeway/openstack";

/** The ID of a new server without a network, once it runs. */
export async function bootServer(cloud: Cloud, name: string): Promise<string> {
  const [flavor] = (await cloud.compute.flavors.all()).toSorted((a, b) => a.ram - b.ram);
  const image = (await cloud.image.images.all()).find(({ status }) => status === "active");
  if (!flavor || !image) throw new Error("the cloud has no flavor or image");
  const body = { name, flavorRef: flavor.id, imageRef: image.id, networks: "none" as const };
  const { id } = await cloud.compute.servers.create(body);
  for (let count = 0; (await cloud.compute.servers.get(id)).status !== "ACTIVE"; count += 1) {
    if (count > 300) throw new Error("the server does not become ACTIVE");
    await new Promise((done) => setTimeout(done, 200));
  }
  return id;
}
