import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { asksForAll, instantOf, manila, owned, pageOf } from "../model.ts";
import type { ShareApp, ShareContext, ShareEnv, ShareNetwork, ShareParts, ShareSubnet } from "../model.ts";
import { checkShareQuota } from "./quotas.ts";
import { securityServiceFor } from "./security-services.ts";
import { shareNetworkView, shareSubnetView } from "../views.ts";

/** Share networks: where share servers would run. They are stored; the one backend here has no servers. */
export function mountShareNetworks(app: ShareApp, parts: ShareParts): void {
  const { kernel, networks } = parts;
  mountResource<ShareEnv, ShareNetwork>(app, kernel, {
    ...manila,
    path: "/v2/share-networks",
    one: "share_network",
    many: "share_networks",
    lists: ["list", "detail"],
    find: (c) => networkFor(c, parts),
    list: (c) => ({ rows: listed(c, parts) }),
    view: (c, network, verb) =>
      verb === "list" ? { id: network.id, name: network.name } : shareNetworkView(c, network),
    create(c, given) {
      const { projectId } = c.get("caller");
      const subnet = askedSubnet(parts, given);
      checkShareQuota(parts, projectId, { share_networks: 1 });
      return networks.insert({
        id: kernel.newId(),
        name: textAt(given, "name") ?? null,
        description: textAt(given, "description") ?? null,
        project_id: projectId,
        subnets: [subnet],
        services: [],
        created_at: instantOf(kernel),
        updated_at: null,
      });
    },
    update(_c, network, given) {
      const text = (field: "name" | "description") =>
        given[field] === undefined ? network[field] : (textAt(given, field) ?? null);
      const subnets = changedSubnets(parts, network, given);
      const updated_at = instantOf(kernel);
      return networks.update(network.id, { name: text("name"), description: text("description"), subnets, updated_at });
    },
    remove(_c, { id, subnets }) {
      const users = parts.shares.all().filter((share) => share.share_network_id === id).length;
      if (users > 0) throw computeError(409, `Can not delete share network ${id}, it has ${users} share(s).`);
      if (subnets.length > 1) {
        const remedy = "Please remove the subnets untill you have one or no subnets remaining.";
        throw computeError(409, `The share network ${id} has more than one subnet attached. ${remedy}`);
      }
      networks.remove(id);
    },
  });
  app.post("/v2/share-networks/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    return c.json({ share_network: shareNetworkView(c, orderedServices(c, parts, body)) });
  });
  mountSubnets(app, parts);
}

function networkFor(c: ShareContext, { networks }: ShareParts): ShareNetwork {
  const id = c.req.param("id") ?? "";
  return owned(c, networks.get(id), () => computeError(404, `Share network ${id} could not be found.`));
}

/** Parameters of lists that are no fields of a share network or of its subnets. */
const ways = new Set([
  "all_tenants",
  "created_since",
  "created_before",
  "limit",
  "offset",
  "security_service_id",
  "project_id",
]);

/** True if the field is the value, or, for "field~", has it somewhere. */
function isMeant(part: object, name: string, wanted: string): boolean {
  const value = (part as Readonly<Record<string, unknown>>)[name.replace(/~$/, "")];
  if (typeof value !== "string" && typeof value !== "number") return false;
  return name.endsWith("~") ? String(value).includes(wanted) : String(value) === wanted;
}

function listed(c: ShareContext, { networks }: ShareParts): readonly ShareNetwork[] {
  const own = asksForAll(c) ? networks.all() : networks.by("project_id", c.get("caller").projectId);
  const service = c.req.query("security_service_id");
  const filters = Object.entries(c.req.query()).filter(([name]) => !ways.has(name));
  const fits = (network: ShareNetwork) =>
    (service === undefined || network.services.includes(service)) &&
    filters.every(([name, wanted]) =>
      [{ ...network, status: "active" }, ...network.subnets].some((part) => isMeant(part, name, wanted)),
    );
  return pageOf(c, own.filter(fits), []);
}

/** The subnet for a body. Throws what Manila responds to an incomplete subnet and to a zone that does not exist. */
function askedSubnet({ kernel }: ShareParts, given: JsonObject): ShareSubnet {
  const [net, subnet] = [textAt(given, "neutron_net_id") ?? null, textAt(given, "neutron_subnet_id") ?? null];
  if ((net === null) !== (subnet === null)) {
    const rule = "you need to specify both neutron_net_id and neutron_subnet_id or none of them.";
    throw computeError(400, `When creating a new share network subnet ${rule}`);
  }
  const zone = textAt(given, "availability_zone") ?? null;
  if (zone !== null && zone !== "nova") {
    throw computeError(400, `The provided availability zone ${zone} does not exist.`);
  }
  return {
    id: kernel.newId(),
    availability_zone: zone,
    neutron_net_id: net,
    neutron_subnet_id: subnet,
    created_at: instantOf(kernel),
    updated_at: null,
  };
}

/** The subnets once the one of all zones is where the body says. */
function changedSubnets({ kernel }: ShareParts, network: ShareNetwork, given: JsonObject): readonly ShareSubnet[] {
  if (given["neutron_net_id"] === undefined && given["neutron_subnet_id"] === undefined) return network.subnets;
  const everywhere = network.subnets.filter(({ availability_zone }) => availability_zone === null);
  const [one, other] = everywhere;
  if (!one || other) {
    const kind = one ? "an unique 'default' subnet" : "a 'default' subnet";
    const fields = "('neutron_net_id', 'neutron_subnet_id')";
    const rule = `that serves all availability zones, so subnet details ${fields} cannot be updated.`;
    throw computeError(400, `The share network ${network.id} does not have ${kind} ${rule}`);
  }
  const [net, subnet] = [textAt(given, "neutron_net_id"), textAt(given, "neutron_subnet_id")];
  if (one.neutron_net_id === null && (net === undefined || subnet === undefined)) {
    const rule = "you need to specify both 'neutron_net_id' and 'neutron_subnet_id'.";
    throw computeError(400, `To update the share network ${network.id} ${rule}`);
  }
  const changed = {
    ...one,
    neutron_net_id: net ?? one.neutron_net_id,
    neutron_subnet_id: subnet ?? one.neutron_subnet_id,
    updated_at: instantOf(kernel),
  };
  return network.subnets.map((each) => (each === one ? changed : each));
}

/** The network after `add_security_service` or `remove_security_service`. Throws what Manila responds. */
function orderedServices(c: ShareContext, parts: ShareParts, body: unknown): ShareNetwork {
  const network = networkFor(c, parts);
  const name = isObject(body) ? (Object.keys(body)[0] ?? "") : "";
  if (name !== "add_security_service" && name !== "remove_security_service") {
    throw computeError(400, `There is no such action: ${name}`);
  }
  const id = textAt(body, name, "security_service_id");
  if (id === undefined) throw computeError(400, "Malformed request body");
  const { id: of, services } = network;
  const keep = (kept: readonly string[]) => parts.networks.update(of, { services: kept });
  if (name === "remove_security_service") {
    if (!parts.services.get(id)) throw computeError(404, `Security service ${id} could not be found.`);
    if (services.includes(id)) return keep(services.filter((one) => one !== id));
    const why = "No association defined.";
    throw computeError(400, `Failed to dissociate share network ${of} and security service ${id}: ${why}`);
  }
  const { type } = securityServiceFor(parts, id);
  if (services.some((one) => parts.services.get(one)?.type === type)) {
    const why = `Security service with '${type}' type already added to '${of}' share network`;
    throw computeError(409, `Invalid security service: Cannot add security service to share network. ${why}`);
  }
  return keep([...services, id]);
}

/**
 * Subnets of share networks, from 2.51 on:
 * https://docs.openstack.org/api-ref/shared-file-system/#share-network-subnets-since-api-v2-51 .
 */
function mountSubnets(app: ShareApp, parts: ShareParts): void {
  const path = "/v2/share-networks/:id/subnets";
  const found = (c: ShareContext) => {
    const network = networkFor(c, parts);
    const id = c.req.param("subnet") ?? "";
    const subnet = network.subnets.find((one) => one.id === id);
    if (!subnet) throw computeError(404, `Share network subnet ${id} could not be found.`);
    return { network, subnet };
  };
  app.get(path, (c) => {
    const network = networkFor(c, parts);
    return c.json({ share_network_subnets: network.subnets.map((one) => shareSubnetView(network, one)) });
  });
  app.get(`${path}/:subnet`, (c) => {
    const { network, subnet } = found(c);
    return c.json({ share_network_subnet: shareSubnetView(network, subnet) });
  });
  app.post(path, async (c) => {
    const given = at(await bodyOf(c.req), "share-network-subnet");
    if (!isObject(given)) throw computeError(400, "Share Network Subnet is missing from the request body.");
    const network = networkFor(c, parts);
    const subnet = askedSubnet(parts, given);
    const isTaken = network.subnets.some((one) => one.availability_zone === subnet.availability_zone);
    if (isTaken && c.get("minor") < 70) {
      const rule = "Only one share network subnet is allowed per availability zone for share network";
      const what = "Another share network subnet was found in the specified availability zone.";
      throw computeError(409, `${what} ${rule} ${network.id}.`);
    }
    parts.networks.update(network.id, { subnets: [...network.subnets, subnet] });
    return c.json({ share_network_subnet: shareSubnetView(network, subnet) });
  });
  app.delete(`${path}/:subnet`, (c) => {
    const { network, subnet } = found(c);
    parts.networks.update(network.id, { subnets: network.subnets.filter((one) => one !== subnet) });
    return c.body(null, 202);
  });
}
