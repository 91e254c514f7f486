import { array, isRecord, records, text, texts, type Json } from "../../../json/json.ts";
import { invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { address, dnsLabel, dnsName, each, supported } from "../../shared/checks.ts";

/*
 * A pod's names and the names it looks up. Source: Kubernetes, "DNS for Services and Pods".
 */

const POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const MOST_SERVERS = 3;
const MOST_SEARCHES = 32;
const LONGEST_SEARCHES = 2048;
const SEARCH = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const SEARCH_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

/** What is wrong with a pod's dnsPolicy. */
export function dnsPolicyProblems(spec: Json, path: string): FieldProblem[] {
  return supported(`${path}.dnsPolicy`, spec["dnsPolicy"], POLICIES);
}

/** What is wrong with a pod's dnsConfig: policy None needs it, and a resolver has limits (resolv.conf(5)). */
export function dnsConfigProblems(spec: Json, path: string): FieldProblem[] {
  const { dnsPolicy: policy, dnsConfig: config } = spec;
  const field = `${path}.dnsConfig`;
  if (policy === "None" && !isRecord(config)) {
    return [required(field, "must provide `dnsConfig` when `dnsPolicy` is None")];
  }
  if (!isRecord(config)) return [];
  const servers = texts(config["nameservers"]);
  const searches = texts(config["searches"]);
  const problems: FieldProblem[] = [];
  if (policy === "None" && servers.length === 0) {
    const why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
    problems.push(required(`${field}.nameservers`, why));
  }
  if (servers.length > MOST_SERVERS) {
    const why = `must not have more than ${MOST_SERVERS} nameservers`;
    problems.push(invalidValue(`${field}.nameservers`, servers, why));
  }
  problems.push(...servers.flatMap((server, i) => address(`${field}.nameservers[${i}]`, server)));
  if (searches.length > MOST_SEARCHES) {
    const why = `must not have more than ${MOST_SEARCHES} search paths`;
    problems.push(invalidValue(`${field}.searches`, searches, why));
  }
  if (searches.join(" ").length > LONGEST_SEARCHES) {
    const why = `must not have more than ${LONGEST_SEARCHES} characters (including spaces) in the search list`;
    problems.push(invalidValue(`${field}.searches`, searches, why));
  }
  problems.push(...searches.flatMap((search, i) => searchProblems(`${field}.searches[${i}]`, search)));
  const nameless = records(config["options"]).flatMap((option, i) =>
    text(option["name"]) === "" ? [required(`${field}.options[${i}]`, "must not be empty")] : [],
  );
  return [...problems, ...nameless];
}

function searchProblems(field: string, search: string): FieldProblem[] {
  const name = search.endsWith(".") && search.length > 1 ? search.slice(0, -1) : search;
  if (search === "." || SEARCH.test(name)) return [];
  return [invalidValue(field, name, SEARCH_RULE)];
}

/** What is wrong with a pod's hostname and subdomain. */
export function hostNameProblems(spec: Json, path: string): FieldProblem[] {
  const names = ["hostname", "subdomain"].flatMap((name) => {
    const value = text(spec[name]);
    return value === "" ? [] : dnsLabel(`${path}.${name}`, value);
  });
  return names;
}

/** What is wrong with what a pod adds to /etc/hosts. */
export function hostAliasProblems(spec: Json, path: string): FieldProblem[] {
  return each(`${path}.hostAliases`, spec["hostAliases"], (alias, at) => [
    ...address(`${at}.ip`, text(alias["ip"])),
    ...array(alias["hostnames"]).flatMap((name, i) => dnsName(`${at}.hostnames[${i}]`, text(name))),
  ]);
}
