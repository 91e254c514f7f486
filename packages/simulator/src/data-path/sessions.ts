import type { PoolMemory } from "./balance.ts";
import { cookieValues, type RequestFacts } from "./match-rule.ts";
import type { Backend, BackendMember } from "./model.ts";

/** The member that a request's session is with. */
export function sessionMember(
  pool: Backend,
  memory: PoolMemory,
  { source, request }: { readonly source: string; readonly request: RequestFacts | undefined },
): BackendMember | undefined {
  switch (pool.persistence?.type) {
    case "SOURCE_IP":
      return memory.stuck(pool, source);
    case "HTTP_COOKIE": {
      const [id] = request ? cookieValues(request, "SRV") : [];
      return pool.members.find((member) => member.id === id && !member.down);
    }
    case "APP_COOKIE": {
      const [value] = request ? cookieValues(request, pool.persistence.cookie) : [];
      return value === undefined ? undefined : memory.stuck(pool, value.slice(0, 64));
    }
    default:
      return undefined;
  }
}

/** Remembers the session of a connection that a member has accepted. */
export function beginSession(
  pool: Backend,
  memory: PoolMemory,
  found: { source: string; member: BackendMember },
): void {
  if (pool.persistence?.type === "SOURCE_IP") memory.stick(found.source, found.member);
}

/** Remembers the session that a member begins by a cookie of its own. */
export function learnSession(
  pool: Backend,
  memory: PoolMemory,
  { member, setCookies }: { readonly member: BackendMember; readonly setCookies: readonly string[] },
): void {
  if (pool.persistence?.type !== "APP_COOKIE") return;
  const { cookie } = pool.persistence;
  for (const line of setCookies) {
    const [pair = ""] = line.split(";", 1);
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === cookie)
      memory.stick(
        pair
          .slice(at + 1)
          .trim()
          .slice(0, 64),
        member,
      );
  }
}

/** The cookie that the load balancer sets; undefined: the client has it, or the pool has none. */
export function ownCookie(pool: Backend, member: BackendMember, request: RequestFacts): string | undefined {
  if (pool.persistence?.type !== "HTTP_COOKIE") return undefined;
  return cookieValues(request, "SRV")[0] === member.id ? undefined : member.id;
}
