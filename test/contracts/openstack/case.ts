/** Who asks: the four accounts that a clouds.yaml of devcloud and of the simulated cloud name. */
export type Account = "member" | "admin" | "reader" | "alt";

/**
 * One request whose answer is the contract. `{name}` in paths and bodies is a value kept by an earlier request of the
 * group, `{run}` a string that no other run has.
 */
export interface RawCase {
  /** As a sentence; unique in its group. */
  readonly says: string;
  /**
   * "POST /volumes", below the service's endpoint; "GET ^/": below the root that its versions are under; "GET {ref}":
   * a kept address of the same service.
   */
  readonly call: string;
  readonly body?: unknown;
  /** Another service's type than the group's; only for what the group is made of. */
  readonly service?: string;
  /** Default "member". */
  readonly as?: Account;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of the answer to keep: name → path of fields, "volume.id", "servers.0.id". */
  readonly keep?: Readonly<Record<string, string>>;
  /** Values of the answer's headers to keep: name → header. */
  readonly keepHeaders?: Readonly<Record<string, string>>;
  /** Fields whose values must be the same, too; of the others only names and types. */
  readonly exact?: readonly string[];
  /**
   * Asks again until the field has one of these values, five minutes at most; an answer of 404 has the value "gone".
   */
  readonly until?: { readonly field: string; readonly is: readonly string[] };
  /**
   * Requests that undo this one when the group is over, in the reverse order of the cases; they are repeated while they
   * are refused.
   */
  readonly undo?: string;
  /** Body of `undo`. */
  readonly undoBody?: unknown;
  /**
   * Fields of objects that may have a value or be null, by how soon the service writes them: their types are not
   * compared.
   */
  readonly untyped?: readonly string[];
  /** Only the status is compared: the body is known to depend on what else is in the cloud. */
  readonly statusOnly?: boolean;
}

/** Cases that share what they make, run in their order. */
export interface RawGroup {
  readonly name: string;
  /** Type of the service in the catalog. */
  readonly service: string;
  readonly cases: readonly RawCase[];
}

/** A comparable answer. */
export interface ComparableAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}
