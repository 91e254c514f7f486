import type { Attributes } from "../../contract/attributes.ts";
import { selectorsOf } from "../../contract/attribute-selectors.ts";
import type { User } from "../../contract/user.ts";
import type { CelEnvironment } from "../../schema/cel/cel-environment.ts";

/** Answers whether a user may do something. */
export type Allows = (attributes: Attributes) => boolean;

const NOTHING = { namespace: "", group: "", version: "*", plural: "", subresource: "", name: "" };

/** `authorizer`: asks on behalf of the requester, or of a service account. */
export class Authorizer {
  readonly user: User;
  readonly allows: Allows;
  /** A check of the request itself. */
  readonly requestResource: ResourceCheck;

  constructor(user: User, allows: Allows, request: Omit<Attributes, "user" | "verb">) {
    this.user = user;
    this.allows = allows;
    this.requestResource = new ResourceCheck(this, request);
  }

  as(user: User): Authorizer {
    return new Authorizer(user, this.allows, this.requestResource.about);
  }
}

class PathCheck {
  readonly authorizer: Authorizer;
  readonly path: string;
  constructor(authorizer: Authorizer, path: string) {
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck {
  readonly authorizer: Authorizer;
  readonly group: string;
  constructor(authorizer: Authorizer, group: string) {
    this.authorizer = authorizer;
    this.group = group;
  }
}

class ResourceCheck {
  readonly authorizer: Authorizer;
  readonly about: Omit<Attributes, "user" | "verb">;
  constructor(authorizer: Authorizer, about: Omit<Attributes, "user" | "verb">) {
    this.authorizer = authorizer;
    this.about = about;
  }
  with(more: Partial<Attributes>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.about, ...more });
  }
}

class Decision {
  readonly allowed: boolean;
  constructor(allowed: boolean) {
    this.allowed = allowed;
  }
}

const AUTHORIZER = "kubernetes.authorization.Authorizer";
const PATH = "kubernetes.authorization.PathCheck";
const GROUP = "kubernetes.authorization.GroupCheck";
const RESOURCE = "kubernetes.authorization.ResourceCheck";
const DECISION = "kubernetes.authorization.Decision";

/** Kubernetes' authorizer library (kubernetes.io, "CEL in Kubernetes"). */
export function registerAuthorizer(environment: CelEnvironment): void {
  environment
    .registerType(PATH, { ctor: PathCheck, fields: {} })
    .registerType(GROUP, { ctor: GroupCheck, fields: {} })
    .registerType(RESOURCE, { ctor: ResourceCheck, fields: {} })
    .registerType(DECISION, { ctor: Decision, fields: {} })
    .registerType(AUTHORIZER, { ctor: Authorizer, fields: { requestResource: RESOURCE } })
    .registerVariable("authorizer", AUTHORIZER)
    .registerFunction(`${AUTHORIZER}.path(string): ${PATH}`, (a: Authorizer, path: string) => {
      if (path === "") throw new Error("path must not be empty");
      return new PathCheck(a, path);
    })
    .registerFunction(
      `${AUTHORIZER}.group(string): ${GROUP}`,
      (a: Authorizer, group: string) => new GroupCheck(a, group),
    )
    .registerFunction(
      `${AUTHORIZER}.serviceAccount(string, string): ${AUTHORIZER}`,
      (a: Authorizer, namespace: string, name: string) => a.as(serviceAccount(namespace, name)),
    )
    .registerFunction(
      `${GROUP}.resource(string): ${RESOURCE}`,
      ({ authorizer, group }: GroupCheck, plural: string) =>
        new ResourceCheck(authorizer, { ...NOTHING, group, plural }),
    );
  registerResourceChecks(environment);
  registerDecisions(environment);
}

function registerResourceChecks(environment: CelEnvironment): void {
  environment
    .registerFunction(`${RESOURCE}.subresource(string): ${RESOURCE}`, (r: ResourceCheck, subresource: string) =>
      r.with({ subresource }),
    )
    .registerFunction(`${RESOURCE}.namespace(string): ${RESOURCE}`, (r: ResourceCheck, namespace: string) =>
      r.with({ namespace }),
    )
    .registerFunction(`${RESOURCE}.name(string): ${RESOURCE}`, (r: ResourceCheck, name: string) => r.with({ name }))
    .registerFunction(`${RESOURCE}.fieldSelector(string): ${RESOURCE}`, (r: ResourceCheck, rawSelector: string) =>
      r.with(selectorsOf({ fieldSelector: { rawSelector } }).selectors),
    )
    .registerFunction(`${RESOURCE}.labelSelector(string): ${RESOURCE}`, (r: ResourceCheck, rawSelector: string) =>
      r.with(selectorsOf({ labelSelector: { rawSelector } }).selectors),
    )
    .registerFunction(
      `${RESOURCE}.check(string): ${DECISION}`,
      ({ authorizer, about }: ResourceCheck, verb: string) => {
        const { user, allows } = authorizer;
        return new Decision(allows({ ...about, user, verb }));
      },
    )
    .registerFunction(`${PATH}.check(string): ${DECISION}`, ({ authorizer, path }: PathCheck, verb: string) => {
      const { user, allows } = authorizer;
      return new Decision(allows({ ...NOTHING, version: "", path, user, verb }));
    });
}

function registerDecisions(environment: CelEnvironment): void {
  environment
    .registerFunction(`${DECISION}.allowed(): bool`, (d: Decision) => d.allowed)
    .registerFunction(`${DECISION}.reason(): string`, () => "")
    .registerFunction(`${DECISION}.errored(): bool`, () => false)
    .registerFunction(`${DECISION}.error(): string`, () => "");
}

function serviceAccount(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}
