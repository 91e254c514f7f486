import { formatIp, parseCidr, parseIp } from "../rules/addresses.ts";
import { common, oneOf, orNull, shown, text, uuid, type InputOf } from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { addRule, touchGroup } from "../rules/default-group.ts";
import { addressGroupNotFound, conflict, groupNotFound, neutronError, ruleNotFound } from "../errors.ts";
import { checkPortRange, portNumber, protocol, protocolNumber, type PortRange } from "../rules/rule-protocols.ts";
import type { NetworkState, SecurityGroupRule } from "../model.ts";
import { ruleView } from "./security-groups.ts";

const attributes = {
  description: { read: orNull(text) },
  project_id: common.project_id,
  tenant_id: common.tenant_id,
  security_group_id: { read: text, required: true, put: false },
  direction: { read: oneOf("ingress", "egress"), required: true, put: false },
  ethertype: { read: ethertype, put: false, filter: ethertype },
  protocol: { read: protocol, put: false, filter: protocol },
  port_range_min: { read: portNumber, put: false, filter: portNumber },
  port_range_max: { read: portNumber, put: false, filter: portNumber },
  remote_ip_prefix: { read: prefix, put: false, filter: prefix },
  remote_group_id: { read: orNull(text), put: false },
  remote_address_group_id: { read: orNull(uuid), put: false },
} as const;
type Attributes = typeof attributes;
type Input = InputOf<Attributes>;

/** Security group rules. Only the description of one can change. */
export function ruleCollection(state: NetworkState): Collection<SecurityGroupRule, Attributes> {
  return {
    singular: "security_group_rule",
    plural: "security_group_rules",
    attributes,
    table: state.rules,
    indexes: ["security_group_id", "remote_group_id", "project_id"],
    filters: ["normalized_cidr"],
    // The real service takes the filter and ignores it.
    special: { normalized_cidr: () => true },
    quota: "security_group_rule",
    notFound: ruleNotFound,
    sees: (caller, row) => caller.isAdmin || row.project_id === caller.projectId,
    view: ruleView,
    checkBulk,
    create: (caller, _, input) => {
      const group = state.groups.get(input.security_group_id ?? "");
      if (!group || (!caller.isAdmin && group.project_id !== caller.projectId)) {
        throw groupNotFound(input.security_group_id ?? "");
      }
      const wanted = complete(input);
      checkRule(state, wanted, group.project_id);
      const twin = state.rules.by("security_group_id", group.id).find((rule) => keyOf(rule) === keyOf(wanted));
      if (twin) {
        throw conflict("SecurityGroupRuleExists", `Security group rule already exists. Rule id is ${twin.id}.`);
      }
      touchGroup(state, group.id);
      return addRule(state, group, wanted);
    },
    update: (_, row, { description }) =>
      state.rules.update(row.id, {
        ...(description === undefined ? {} : { description }),
        updated_at: state.kernel.timestamp(),
        revision_number: row.revision_number + 1,
      }),
    remove: (_, row) => {
      touchGroup(state, row.security_group_id);
      state.rules.remove(row.id);
    },
  };
}

type Wanted = Omit<
  SecurityGroupRule,
  "id" | "project_id" | "security_group_id" | "created_at" | "updated_at" | "revision_number"
>;

function complete(input: Input): Wanted {
  const range = {
    protocol: input.protocol ?? null,
    min: input.port_range_min ?? null,
    max: input.port_range_max ?? null,
  };
  return {
    ethertype: input.ethertype ?? "IPv4",
    direction: input.direction ?? "ingress",
    protocol: range.protocol,
    port_range_min: range.min,
    port_range_max: range.max,
    remote_ip_prefix: input.remote_ip_prefix ?? null,
    remote_group_id: input.remote_group_id ?? null,
    remote_address_group_id: input.remote_address_group_id ?? null,
    description: input.description ?? "",
  };
}

function checkRule(state: NetworkState, rule: Wanted, projectId: string): void {
  const range: PortRange = { protocol: rule.protocol, min: rule.port_range_min, max: rule.port_range_max };
  checkPortRange(range);
  const remotes = [rule.remote_ip_prefix, rule.remote_group_id, rule.remote_address_group_id].filter((r) => r !== null);
  if (remotes.length > 1) {
    const why = "Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.";
    throw neutronError(400, "SecurityGroupMultipleRemoteEntites", why);
  }
  const version = rule.remote_ip_prefix === null ? undefined : parseCidr(rule.remote_ip_prefix)?.version;
  if (version !== undefined && rule.ethertype !== `IPv${version}`) {
    const why = `Conflicting value ethertype ${rule.ethertype} for CIDR ${rule.remote_ip_prefix}`;
    throw neutronError(400, "SecurityGroupRuleParameterConflict", why);
  }
  const remote = rule.remote_group_id;
  if (remote !== null && state.groups.get(remote)?.project_id !== projectId) throw groupNotFound(remote);
  const addresses = rule.remote_address_group_id;
  if (addresses !== null && !state.addressGroups.get(addresses)) throw addressGroupNotFound(addresses);
}

/** What makes two rules the same: all but the description; any source is one source, a protocol is its number. */
function keyOf(rule: Wanted): string {
  const whole = rule.remote_ip_prefix === "0.0.0.0/0" || rule.remote_ip_prefix === "::/0";
  const parts = [
    rule.direction,
    rule.ethertype,
    rule.protocol === null ? null : protocolNumber(rule.protocol),
    rule.port_range_min,
    rule.port_range_max,
    whole ? null : rule.remote_ip_prefix,
    rule.remote_group_id,
    rule.remote_address_group_id,
  ];
  return JSON.stringify(parts);
}

function checkBulk(inputs: readonly Input[]): void {
  const groups = new Set(inputs.map((input) => input.security_group_id));
  if (groups.size > 1) {
    const why = "Only allowed to update rules for one security profile at a time";
    throw neutronError(400, "SecurityGroupNotSingleGroupRules", why);
  }
  const keys = inputs.map((input) => keyOf(complete(input)));
  if (new Set(keys).size < keys.length) {
    throw conflict("DuplicateSecurityGroupRuleInPost", "Duplicate Security Group Rule in POST.");
  }
}

function ethertype(value: unknown): "IPv4" | "IPv6" {
  const word = typeof value === "string" ? value.toLowerCase() : value;
  if (word === "ipv4") return "IPv4";
  if (word === "ipv6") return "IPv6";
  const why = `Security group rule for ethertype '${shown(value)}' not supported. Allowed values are ['IPv4', 'IPv6'].`;
  throw neutronError(400, "SecurityGroupRuleInvalidEtherType", why);
}

function prefix(value: unknown): string | null {
  if (value === null || value === "") return null;
  const cidr = typeof value === "string" ? parseCidr(value) : undefined;
  if (!cidr || typeof value !== "string")
    throw neutronError(400, "InvalidCIDR", `Invalid CIDR ${shown(value)} given as IP prefix.`);
  const host = parseIp(value.split("/")[0] ?? "");
  return `${host ? formatIp(host) : value}/${cidr.length}`;
}
