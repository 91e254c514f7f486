import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, text, type Json } from "../json/json.ts";
import type { QueueShape } from "./queues.ts";

/** Seats of a whole server, as kube-apiserver has by default: 400 for reads and 200 for writes. */
export const SERVER_SEATS = 600;

/** A priority level as configured. */
export interface LevelConfig {
  readonly name: string;
  readonly uid: string;
  readonly exempt: boolean;
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined: as much as there is. */
  readonly borrowingPercent: number | undefined;
  /** Undefined: what finds no seat is refused. */
  readonly queuing: QueueShape | undefined;
}

/** What a level may have. Seats. */
export interface Limits {
  readonly nominal: number;
  /** The seats that other levels may not borrow. */
  readonly lower: number;
  readonly upper: number;
}

/** Reads a PriorityLevelConfiguration; a limited one without shares has 30, the default of Kubernetes. */
export function levelConfigOf(object: KubeObject): LevelConfig {
  const spec = record(fields(object)["spec"]);
  const exempt = spec["type"] === "Exempt";
  const own = record(exempt ? spec["exempt"] : spec["limited"]);
  const queuing = at(own, "limitResponse", "queuing");
  const borrowing = own["borrowingLimitPercent"];
  return {
    name: object.metadata.name,
    uid: object.metadata.uid ?? "",
    exempt,
    shares: number(own["nominalConcurrencyShares"], exempt ? 0 : 30),
    lendablePercent: number(own["lendablePercent"], 0),
    borrowingPercent: typeof borrowing === "number" ? borrowing : undefined,
    queuing: text(at(own, "limitResponse", "type")) === "Queue" ? queuingOf(record(queuing)) : undefined,
  };
}

function queuingOf(queuing: Json): QueueShape {
  return {
    queues: number(queuing["queues"], 64),
    handSize: number(queuing["handSize"], 8),
    queueLengthLimit: number(queuing["queueLengthLimit"], 50),
  };
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

/** Divides the server's seats by shares (kubernetes.io "API Priority and Fairness"). */
export function limitsOf(levels: readonly LevelConfig[]): ReadonlyMap<string, Limits> {
  const sum = levels.reduce((s, l) => s + l.shares, 0) || 1;
  return new Map(
    levels.map(({ name, shares, lendablePercent, borrowingPercent }) => {
      const nominal = Math.ceil((SERVER_SEATS * shares) / sum);
      const lower = nominal - Math.round((nominal * lendablePercent) / 100);
      const borrowed = borrowingPercent === undefined ? SERVER_SEATS : Math.round((nominal * borrowingPercent) / 100);
      return [name, { nominal, lower, upper: nominal + borrowed }];
    }),
  );
}
