import type { Listener, ListenerUpdate } from "@causeway/openstack";
import { timeoutFields, type TimeoutField } from "./bodies.ts";
import { restriction, type ListenerSettings } from "./desired.ts";
import { sameSet } from "./same-set.ts";

/** A part that a user switched off is switched on again. */
export function enabled({ admin_state_up: up }: { admin_state_up?: boolean }): { admin_state_up?: true } {
  return up === false ? { admin_state_up: true } : {};
}

/** Only what differs and what the provider honours; others' tags remain. Undefined: nothing does. */
export function listenerChange(listener: Listener, wanted: ListenerSettings): ListenerUpdate | undefined {
  const headers = wanted.insertHeaders ?? {};
  const missing = wanted.tags.filter((tag) => !listener.tags.includes(tag));
  const { connectionLimit } = wanted;
  const change: ListenerUpdate = {
    ...enabled(listener),
    ...(missing.length === 0 ? {} : { tags: [...listener.tags, ...missing] }),
    ...((listener.connection_limit ?? -1) === connectionLimit ? {} : { connection_limit: connectionLimit }),
    ...sourceRangeChange(listener, wanted),
    ...certificateChange(listener, wanted),
    ...timeoutChange(listener, wanted.timeouts),
    ...(sameHeaders(listener.insert_headers ?? {}, headers) ? {} : { insert_headers: { ...headers } }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** What makes the listener's source ranges the wanted ones, however they are spelled. */
export function sourceRangeChange(
  listener: Listener,
  { allowedCidrs }: Pick<ListenerSettings, "allowedCidrs">,
): Pick<ListenerUpdate, "allowed_cidrs"> {
  if (!allowedCidrs || sameSet(restriction(listener.allowed_cidrs ?? []), restriction(allowedCidrs))) return {};
  return { allowed_cidrs: [...allowedCidrs] };
}

function certificateChange(
  listener: Listener,
  { tlsContainerRef: first, sniContainerRefs: sni }: ListenerSettings,
): ListenerUpdate {
  return {
    ...(first === undefined || listener.default_tls_container_ref === first
      ? {}
      : { default_tls_container_ref: first }),
    ...(sni === undefined || sameSet(listener.sni_container_refs ?? [], sni) ? {} : { sni_container_refs: [...sni] }),
  };
}

function timeoutChange(listener: Listener, timeouts: ListenerSettings["timeouts"]): ListenerUpdate {
  if (!timeouts) return {};
  const wanted = timeoutFields(timeouts);
  const keys = Object.keys(wanted) as TimeoutField[];
  const differing = keys.filter((key) => (listener[key] ?? undefined) !== undefined && listener[key] !== wanted[key]);
  return Object.fromEntries(differing.map((key) => [key, wanted[key]]));
}

function sameHeaders(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const texts = (headers: typeof a): string[] => Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return sameSet(texts(a), texts(b));
}
