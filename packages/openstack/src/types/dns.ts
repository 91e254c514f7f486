/** Designate v2, wire-true: https://docs.openstack.org/api-ref/dns/ */
import type { CallOptions, Collection } from "./collection.ts";

/** A DNS zone: https://docs.openstack.org/api-ref/dns/dns-api-v2-index.html#zones . */
export interface Zone {
  id: string;
  /** With its final dot. */
  name: string;
  email: string;
  ttl: number;
  type: "PRIMARY" | "SECONDARY";
  description: string | null;
  serial: number;
  status: "ACTIVE" | "PENDING" | "ERROR" | "DELETED";
  action: "NONE" | "CREATE" | "UPDATE" | "DELETE";
  project_id: string;
}
/** What a zone is created with. */
export interface ZoneCreate {
  name: string;
  email?: string;
  ttl?: number;
  type?: Zone["type"];
  description?: string;
  masters?: string[];
}
/** Records of one name and type in a zone. */
export interface RecordSet {
  id: string;
  zone_id: string;
  name: string;
  type: string;
  records: string[];
  ttl: number | null;
  description: string | null;
  status: Zone["status"];
  action: Zone["action"];
}
/** What a record set is created with. */
export interface RecordSetCreate {
  name: string;
  type: string;
  records: string[];
  ttl?: number;
  description?: string;
}
/** The name of a floating IP. */
export interface ReverseRecord {
  id: string;
  ptrdname: string | null;
  address: string;
  ttl: number | null;
  status: string;
}

/** Designate: https://docs.openstack.org/api-ref/dns/ . */
export interface DnsService {
  readonly zones: Collection<Zone, ZoneCreate, Partial<Omit<ZoneCreate, "name" | "type">>>;
  recordSets(zoneId: string): Collection<RecordSet, RecordSetCreate, Partial<Omit<RecordSetCreate, "name" | "type">>>;
  /** The PTR record of a floating IP. */
  setReverse(region: string, floatingIpId: string, name: string, options?: CallOptions): Promise<ReverseRecord>;
  unsetReverse(region: string, floatingIpId: string, options?: CallOptions): Promise<void>;
}
