import type { Json } from "./interface.ts";
/** What both servers record: requests of the group "audited", and those below /audited whoever sends them. */
export declare const AUDIT_POLICY: Json;
/** The events of one request, in the order in which they were written. */
export declare function auditEvents(file: string, id: string): Json[];
