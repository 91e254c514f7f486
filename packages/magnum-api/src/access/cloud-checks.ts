import { messageOf, type Log } from "@causeway/foundation";
import { connectCloud, isOpenStackNotFound, type Cloud, type CloudConfig } from "@causeway/openstack";
import { conflict, invalid, MagnumError } from "../wire/error.ts";
import { isUuid } from "../wire/fields.ts";

/** What of the caller's cloud a template or a cluster names. */
export interface CloudNames {
  readonly imageID?: string | undefined;
  readonly flavorID?: string | undefined;
  readonly masterFlavorID?: string | undefined;
  /** True: nodes boot from a volume, and their flavor may have no root disk. */
  readonly hasBootVolume?: boolean;
  readonly externalNetworkID?: string | undefined;
  readonly fixedNetwork?: string | undefined;
  readonly fixedSubnet?: string | undefined;
  readonly keypair?: string | undefined;
  /** Magnum refuses a new template's image in other words. */
  readonly isNewTemplate?: boolean;
}

/** The subnet that exists and has a cluster's nodes, as it was found in the caller's cloud. */
export interface FixedSubnet {
  /** The attribute that names it, or its network. */
  readonly attribute: "fixed_subnet" | "fixed_network";
  readonly name: string;
  readonly cidr: string;
}

/** What an accepted check read from the caller's cloud on the way. */
export interface CloudFacts {
  /** `os_distro` of the image. Undefined: no image was looked up, or its service did not respond. */
  readonly distribution?: string | undefined;
  /** `magnum_driver` of the image. Undefined: it has none, or it is not known. */
  readonly driver?: string | undefined;
  /** The subnet of a cluster's nodes. Undefined: none is named, or it is not known which one they get. */
  readonly fixed?: FixedSubnet | undefined;
}

/** Checks what a request names (image, flavors, networks, key pair) in the caller's own project. */
export interface CloudChecker {
  /**
   * Resolves each name with the caller's token. A service that does not respond, or that refuses the token, refuses
   * nothing: the machines' controllers find out what is missing.
   * @throws MagnumError 400, 404, 409
   */
  check(token: string, names: CloudNames, signal: AbortSignal): Promise<CloudFacts>;
  /** The public key of a key pair of the caller's; undefined: there is none of the name. */
  publicKey(token: string, name: string, signal: AbortSignal): Promise<string | undefined>;
  /** False: Keystone, with the caller's token, has no such project. True also where the caller may not read it. */
  hasProject(token: string, id: string, signal: AbortSignal): Promise<boolean>;
}

const DEADLINE = 20_000;

/** A checker for the cloud at `address`. Each call connects with the caller's token and has 20 seconds in all. */
export function createCloudChecker(address: Omit<CloudConfig, "auth">, log: Log): CloudChecker {
  async function connected<T>(
    token: string,
    signal: AbortSignal,
    work: (cloud: Cloud, within: Within) => Promise<T>,
  ): Promise<T> {
    const cloud = connectCloud({ ...address, auth: { type: "token", token } });
    try {
      return await work(cloud, { signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]) });
    } finally {
      await cloud.close();
    }
  }
  async function lenient<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof MagnumError || signal.aborted) throw error;
      log.warn("a request was accepted without a check of what it names", { what, error: messageOf(error) });
      return undefined;
    }
  }
  return {
    check: (token, names, signal) =>
      connected(token, signal, async (cloud, within) => {
        const image = await lenient("image", signal, () => checkImage(cloud, names, within));
        await lenient("flavor", signal, () => checkFlavors(cloud, names, within));
        const network = () => checkExternalNetwork(cloud, names.externalNetworkID, within);
        await lenient("external network", signal, network);
        const fixed = await lenient("fixed network", signal, () => checkFixed(cloud, names, within));
        await lenient("keypair", signal, () => checkKeypair(cloud, names.keypair, within));
        return { ...image, ...(fixed === undefined ? {} : { fixed }) };
      }),
    publicKey: (token, name, signal) =>
      connected(token, signal, async (cloud, within) => {
        return (await orUndefined(() => cloud.compute.keypairs.get(name, within)))?.public_key;
      }),
    hasProject: (token, id, signal) =>
      connected(token, signal, async (cloud, within) => {
        const found = await lenient("project", signal, async () => {
          // Of a token that is not valid any more Keystone says 404, too.
          await cloud.projectId(within);
          return (await orUndefined(() => cloud.identity.projects.get(id, within))) !== undefined;
        });
        return found ?? true;
      }),
  };
}

type Within = { readonly signal: AbortSignal };

async function checkImage(cloud: Cloud, names: CloudNames, within: Within): Promise<CloudFacts | undefined> {
  const { imageID: ident, isNewTemplate } = names;
  if (ident === undefined) return undefined;
  const named = (await cloud.image.images.all({ name: ident }, within)).filter(({ name }) => name === ident);
  if (named.length > 1)
    throw conflict(`Multiple images exist with same name '${ident}'. Please use the image id instead.`);
  const image = named[0] ?? (await orUndefined(() => cloud.image.images.get(ident, within)));
  if (image === undefined && isNewTemplate !== true) throw invalid(`Image ${ident} could not be found.`);
  const properties: Readonly<Record<string, unknown>> = { ...image };
  const distribution = properties["os_distro"];
  if (typeof distribution !== "string" || distribution === "")
    throw invalid(
      isNewTemplate === true
        ? "Cluster type (vm, Unset, kubernetes) not supported."
        : `Image ${ident} doesn't contain os_distro field.`,
    );
  const driver = properties["magnum_driver"];
  return { distribution, ...(typeof driver === "string" && driver !== "" ? { driver } : {}) };
}

/** Hosted control planes have no machines: the masters' flavor has to exist, and its disk is not used. */
async function checkFlavors(cloud: Cloud, names: CloudNames, within: Within): Promise<void> {
  const { flavorID, masterFlavorID, hasBootVolume } = names;
  if (flavorID === undefined && masterFlavorID === undefined) return;
  const flavors = await cloud.compute.flavors.all({}, within);
  for (const ident of [flavorID, masterFlavorID]) {
    if (ident === undefined) continue;
    const found = flavors.find(({ id, name }) => id === ident || name === ident);
    if (found === undefined) throw invalid(`Unable to find flavor ${ident}.`);
    if (ident === flavorID && hasBootVolume === false && found.disk === 0)
      throw invalid("Flavor with zero root volume size is not supported when boot_volume_size is zero.");
  }
}

async function checkExternalNetwork(cloud: Cloud, ident: string | undefined, within: Within): Promise<void> {
  if (ident === undefined) return;
  const networks = await cloud.network.networks.all({ "router:external": true }, within);
  const found = networks.filter(({ id, name }) => id === ident || name === ident);
  if (found.length === 0) throw invalid(`Unable to find external network ${ident}.`);
  if (found.length > 1)
    throw conflict(
      `Multiple external networks exist with same name '${ident}'. Please use the external network ID instead.`,
    );
}

/** What the project sees of networks: its own, shared ones and external ones. */
async function checkFixed(
  cloud: Cloud,
  { fixedNetwork, fixedSubnet }: CloudNames,
  within: Within,
): Promise<FixedSubnet | undefined> {
  const networks = await found(fixedNetwork, (query) => cloud.network.networks.all(query, within));
  const [network] = networks;
  if (fixedNetwork !== undefined && network === undefined)
    throw invalid(`Unable to find fixed network ${fixedNetwork}.`);
  if (networks.length > 1)
    throw conflict(`Multiple networks exist with same name '${fixedNetwork}'. Please use the network ID instead.`);
  const subnets = await found(fixedSubnet, (query) => cloud.network.subnets.all(query, within));
  if (fixedSubnet !== undefined && subnets.length === 0) throw invalid(`Unable to find fixed subnet ${fixedSubnet}.`);
  if (subnets.length > 1)
    throw conflict(`Multiple subnets exist with same name '${fixedSubnet}'. Please use the subnet ID instead.`);
  const [subnet] = subnets;
  if (network !== undefined && subnet !== undefined && subnet.network_id !== network.id)
    throw invalid(`The fixed subnet ${fixedSubnet} is not a subnet of the fixed network ${fixedNetwork}.`);
  if (subnet !== undefined) return { attribute: "fixed_subnet", name: fixedSubnet ?? "", cidr: subnet.cidr };
  if (network === undefined) return undefined;
  const [only, another] = await cloud.network.subnets.all({ network_id: network.id }, within);
  if (only === undefined || another !== undefined) return undefined;
  return { attribute: "fixed_network", name: fixedNetwork ?? "", cidr: only.cidr };
}

type Query = { readonly id: string } | { readonly name: string };

/** By id, or by name when no id fits; each list has few entries. */
async function found<T>(
  ident: string | undefined,
  list: (query: Query) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  if (ident === undefined) return [];
  const byId = isUuid(ident) ? await list({ id: ident }) : [];
  return byId.length > 0 ? byId : list({ name: ident });
}

async function checkKeypair(cloud: Cloud, name: string | undefined, within: Within): Promise<void> {
  if (name === undefined) return;
  const found = await orUndefined(() => cloud.compute.keypairs.get(name, within));
  if (found === undefined) throw new MagnumError(404, `Unable to find keypair ${name}.`);
}

async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isOpenStackNotFound(error)) return undefined;
    throw error;
  }
}
