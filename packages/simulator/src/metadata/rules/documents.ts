import { randomBytes } from "node:crypto";
import type { NetworkLinks } from "../../kernel/links.ts";
import { requestedPorts, type ComputeTables, type Server } from "../../compute/model.ts";

/** The metadata of a server, and the data of its documents. */
export interface ServerDocuments {
  readonly tables: ComputeTables;
  readonly network: NetworkLinks;
}

/** Versions of OpenStack's own layout, oldest first. https://docs.openstack.org/nova/latest/user/metadata.html */
export const metadataVersions = [
  "2012-08-10",
  "2013-04-04",
  "2013-10-17",
  "2015-10-15",
  "2016-06-30",
  "2016-10-06",
  "2017-02-22",
  "2018-08-27",
  "2020-10-14",
  "latest",
];

/** meta_data.json: who the server is, its metadata and keys. */
export function metaData({ tables }: ServerDocuments, server: Server): object {
  const key = server.key_name === null ? undefined : tables.keypairs.get(`${server.user_id}/${server.key_name}`);
  return {
    uuid: server.id,
    ...(key ? { public_keys: { [key.name]: key.public_key } } : {}),
    ...(key ? { keys: [{ name: key.name, type: key.type, data: key.public_key }] } : {}),
    hostname: server.hostname,
    name: server.name,
    launch_index: 0,
    availability_zone: server.zone,
    random_seed: randomBytes(512).toString("base64"),
    project_id: server.project_id,
    meta: server.metadata,
    devices: [],
    dedicated_cpus: [],
  };
}

/** network_data.json: links by their ports, and an address of each by DHCP. */
export function networkData({ network }: ServerDocuments, server: Server): object {
  const ports = network.portsOf(server.id, requestedPorts(server));
  const linkOf = (id: string) => `tap${id.slice(0, 11)}`;
  const networks = ports.flatMap((port) =>
    port.fixed_ips.map(({ ip_address: ip }) => ({
      type: ip.includes(":") ? "ipv6_dhcp" : "ipv4_dhcp",
      link: linkOf(port.id),
      network_id: port.network_id,
    })),
  );
  return {
    links: ports.map((port) => ({
      id: linkOf(port.id),
      vif_id: port.id,
      type: "ovs",
      mtu: 1442,
      ethernet_mac_address: port.mac_address,
    })),
    networks: networks.map((one, place) => ({ id: `network${place}`, ...one })),
    services: [],
  };
}

/** The user data as it was given, without its base64; undefined: none was given. */
export const userData = ({ user_data }: Server): string | undefined =>
  user_data === null ? undefined : Buffer.from(user_data, "base64").toString("utf8");

/** The files of the server's config drive, by path; undefined: it has none. */
export function configDrive(documents: ServerDocuments, server: Server): Readonly<Record<string, string>> | undefined {
  if (!server.config_drive) return undefined;
  const user = userData(server);
  const injected = (server.files ?? []).map(({ path, contents }, place) => {
    const content_path = `/content/${String(place).padStart(4, "0")}`;
    return { path, content_path, text: Buffer.from(contents, "base64").toString("utf8") };
  });
  const fileList =
    injected.length === 0 ? {} : { files: injected.map(({ path, content_path }) => ({ content_path, path })) };
  const files = {
    "meta_data.json": JSON.stringify({ ...metaData(documents, server), ...fileList }),
    "network_data.json": JSON.stringify(networkData(documents, server)),
    "vendor_data.json": "{}",
    "vendor_data2.json": "{}",
    ...(user === undefined ? {} : { user_data: user }),
  };
  return Object.fromEntries([
    ...Object.entries(files).map(([name, text]) => [`openstack/latest/${name}`, text] as const),
    ...injected.map(({ content_path, text }) => [`openstack${content_path}`, text] as const),
  ]);
}

/** EC2's layout below meta-data: one value a path. */
export function ec2Data({ network, tables }: ServerDocuments, server: Server): ReadonlyMap<string, string> {
  const addresses = network.serverAddresses(server.id, requestedPorts(server));
  const of = (kind: "fixed" | "floating") => addresses.find((a) => a.kind === kind && a.version === 4)?.addr ?? "";
  const key = server.key_name === null ? undefined : tables.keypairs.get(`${server.user_id}/${server.key_name}`);
  const number = server.number.toString(16).padStart(8, "0");
  const groups = network.portsOf(server.id).flatMap((port) => network.securityGroupNames(port.id));
  return new Map([
    ["ami-id", `ami-${number}`],
    ["ami-launch-index", "0"],
    ["ami-manifest-path", "FIXME"],
    ["block-device-mapping/ami", "vda"],
    ["block-device-mapping/root", "/dev/vda"],
    ["hostname", server.hostname],
    ["instance-action", "none"],
    ["instance-id", `i-${number}`],
    ["instance-type", server.flavor.name],
    ["local-hostname", server.hostname],
    ["local-ipv4", of("fixed")],
    ["placement/availability-zone", server.zone],
    ["public-hostname", server.hostname],
    ["public-ipv4", of("floating")],
    ...(key ? [["public-keys/0/openssh-key", key.public_key] as const] : []),
    ["reservation-id", server.reservation_id],
    ["security-groups", [...new Set(groups)].join("\n")],
  ]);
}
