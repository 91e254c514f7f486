import type { Fault } from "../interface.ts";
import { at, isObject } from "../kernel/json.ts";
import { ServiceError } from "../kernel/service-error.ts";
import type { FaultRule } from "./faults.ts";

const refuse = (message: string) => new ServiceError(400, { error: { code: 400, title: "Bad Request", message } });

/** Fault rules from JSON. Throws 400 with what is wrong. */
export function faultRulesOf(given: unknown): readonly FaultRule[] {
  if (!Array.isArray(given))
    throw refuse('Send {"faults": [{"service": …, "fault": {"when": "before", "status": 503}}]}.');
  return given.map((rule: unknown) => {
    const text = (field: string) => {
      const value = at(rule, field);
      return typeof value === "string" ? { [field]: value } : {};
    };
    const number = (field: string) => {
      const value = at(rule, field);
      return typeof value === "number" ? { [field]: value } : {};
    };
    checkPattern(at(rule, "path"));
    const parts = { ...text("method"), ...text("service"), ...text("path"), ...number("skip"), ...number("times") };
    return { ...parts, fault: faultOf(at(rule, "fault")) };
  });
}

function checkPattern(path: unknown): void {
  if (typeof path !== "string") return;
  try {
    new RegExp(path).test("");
  } catch {
    throw refuse(`The path ${path} is no regular expression.`);
  }
}

function faultOf(given: unknown): Fault {
  const [when, cut, status] = [at(given, "when"), at(given, "cut"), at(given, "status")];
  if (when !== "before" && when !== "after") throw refuse('A fault has "when": "before" or "after".');
  if (cut === true) return { when, cut };
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599) {
    throw refuse('A fault has "cut": true, or a "status" from 200 to 599.');
  }
  const [body, headers] = [at(given, "body"), at(given, "headers")];
  const strings = isObject(headers)
    ? Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
    : [];
  return {
    when,
    status,
    ...(body === undefined ? {} : { body }),
    ...(strings.length === 0 ? {} : { headers: Object.fromEntries(strings) }),
  };
}
