import { fixedId } from "../kit/fixed-id.ts";
import { ServiceError } from "../../kernel/service-error.ts";
import type { ComputeParts, InstanceAction, Server, VmState } from "../model.ts";

/** Deleted servers that changes-since can still list. */
const deletedKept = 500;

/** The user that Cinder speaks to Nova as. */
const cinder = fixedId(7, 1).replaceAll("-", "");

/** What happens to servers after the response: build, stop, delete. */
export class Lifecycle {
  readonly #parts: ComputeParts;

  constructor(parts: ComputeParts) {
    this.#parts = parts;
    const { timers } = parts.kernel;
    timers.handler("server.network", (id) => this.#setUpNetwork(id));
    timers.handler("server.run", (id) => this.#run(id));
    // Cinder notifies Nova as a service user.
    parts.volumes.onGrown((id) => {
      const server = parts.tables.servers.get(id);
      const by = { request_id: `req-${parts.kernel.newId()}`, user_id: cinder };
      if (server) this.note(server, { action: "extend_volume", ...by });
    });
    timers.handler("server.settle", (argument) => this.#settle(argument));
    timers.handler("server.gone", (id) => this.#finishDelete(id));
  }

  /** Changes a server and its time of update. */
  touch(id: string, change: Partial<Server>): Server {
    return this.#parts.tables.servers.update(id, { updated: this.#parts.kernel.timestamp(), ...change });
  }

  /** Begins an operation that ends in `state` after the delay of `operation`, unless the server dies first. */
  begin(server: Server, task: string, { state, operation }: { state: VmState; operation: string }): void {
    const { kernel } = this.#parts;
    this.touch(server.id, { task_state: task });
    if (kernel.outcome(operation, server.name) === "stuck") return;
    kernel.timers.after(kernel.delay(operation), "server.settle", `${server.id} ${task} ${state}`);
  }

  /** Begins the end of a server. Ports, volumes and its place in a group go with it. */
  delete(server: Server): void {
    if (server.task_state === "deleting") return;
    const { kernel } = this.#parts;
    this.touch(server.id, { task_state: "deleting" });
    if (kernel.outcome("server.delete", server.name, server.flavor.name) === "stuck") return;
    kernel.timers.after(kernel.delay("server.delete"), "server.gone", server.id);
  }

  note(server: Server, action: Pick<InstanceAction, "action" | "request_id" | "user_id">): void {
    const now = this.#parts.kernel.timestamp();
    const entry = { ...action, start_time: now, updated_at: now, message: null };
    this.#parts.tables.servers.update(server.id, { actions: [entry, ...server.actions].slice(0, 50) });
  }

  /** The server, if it is still being built. */
  #building(id: string): Server | undefined {
    const server = this.#parts.tables.servers.get(id);
    return server?.vm_state === "building" && server.task_state !== "deleting" ? server : undefined;
  }

  #setUpNetwork(id: string): void {
    const server = this.#building(id);
    if (!server) return;
    const { kernel, network } = this.#parts;
    const outcome = kernel.outcome("server.create", server.name, server.flavor.name);
    if (outcome === "stuck") return;
    if (outcome === "error") return this.#fail(server, "No valid host was found. ");
    try {
      kernel.atomic(() => {
        const requested = server.requested.map((wanted) => ({
          ...wanted,
          port_id: wanted.port_id ?? this.#makePort(server, wanted),
        }));
        const given = new Set(server.requested.map(({ port_id }) => port_id));
        const own = requested.map(({ port_id }) => port_id).filter((port) => !given.has(port));
        this.touch(id, { networked: true, requested, own_ports: own, task_state: "spawning" });
      });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const why = "Failed to allocate the network(s), not rescheduling.";
      return this.#fail(server, `Build of instance ${id} aborted: ${why}`);
    }
    for (const port of network.portsOf(id)) network.activatePort(port.id);
    kernel.timers.after(kernel.delay("server.create") * 0.6, "server.run", id);
  }

  #makePort(server: Server, wanted: Server["requested"][number]): string {
    const { network } = this.#parts;
    const port = network.createPort(server.project_id, {
      ...(wanted.network_id === undefined ? {} : { network_id: wanted.network_id }),
      ...(wanted.fixed_ip === undefined ? {} : { ip_address: wanted.fixed_ip }),
      ...(server.security_groups.length === 0 ? {} : { security_groups: server.security_groups }),
    });
    network.bindPort(port.id, server.id, server.zone);
    return port.id;
  }

  #fail(server: Server, message: string): void {
    const { kernel, network } = this.#parts;
    for (const { port_id } of server.requested) if (port_id !== undefined) network.unbindPort(port_id);
    this.touch(server.id, {
      vm_state: "error",
      task_state: null,
      actions: this.#finished(server),
      fault: { code: 500, created: kernel.timestamp(), message },
    });
  }

  #run(id: string): void {
    const server = this.#building(id);
    if (!server) return;
    const launched_at = this.#parts.kernel.timestamp();
    this.touch(id, { vm_state: "active", task_state: null, launched_at, actions: this.#finished(server) });
  }

  #settle(argument: string): void {
    const [id = "", task, state] = argument.split(" ");
    const server = this.#parts.tables.servers.get(id);
    // Another operation, or the delete, has replaced it.
    if (!server || server.task_state !== task) return;
    const after = this.#afterMove(server, state as VmState);
    this.touch(id, { vm_state: state as VmState, task_state: null, actions: this.#finished(server), ...after });
  }

  /** What was done to the server, the last of it ending now. */
  #finished({ actions: [last, ...before] }: Server): Server["actions"] {
    return last ? [{ ...last, updated_at: this.#parts.kernel.timestamp() }, ...before] : [];
  }

  /** What a finished resize, revert or unshelve changes in addition to the state. */
  #afterMove(server: Server, state: VmState): Partial<Server> {
    const now = this.#parts.kernel.timestamp();
    if (state === "resized")
      return { flavor: server.next_flavor ?? server.flavor, next_flavor: null, launched_at: now };
    if (server.task_state === "resize_reverting" && server.before) {
      return { flavor: server.before.flavor, vm_state: server.before.vm_state, before: null, launched_at: now };
    }
    return ["spawning", "rebuilding"].includes(server.task_state ?? "") ? { launched_at: now } : {};
  }

  #finishDelete(id: string): void {
    const { kernel, network, tables, volumes } = this.#parts;
    const server = tables.servers.get(id);
    if (!server) return;
    if (kernel.outcome("server.delete", server.name, server.flavor.name) === "error") {
      const fault = { code: 500, created: kernel.timestamp(), message: "Unable to destroy the server." };
      this.touch(id, { vm_state: "error", task_state: null, fault });
      return;
    }
    for (const port of network.portsOf(id)) {
      if (server.own_ports.includes(port.id)) network.deletePort(port.id);
      else network.unbindPort(port.id);
    }
    for (const volume of server.volumes) {
      volumes.detach(volume.volume_id, id, 0);
      if (volume.delete_on_termination) volumes.deleteVolume(volume.volume_id);
    }
    for (const { id: migration, status } of this.#parts.tables.migrations.by("server_id", id)) {
      if (status === "finished") this.#parts.tables.migrations.update(migration, { status: "confirmed" });
    }
    this.#leaveGroup(server);
    this.#bury(server);
  }

  #leaveGroup(server: Server): void {
    const { groups } = this.#parts.tables;
    const group = server.group_id === null ? undefined : groups.get(server.group_id);
    if (group) groups.update(group.id, { members: group.members.filter((id) => id !== server.id) });
  }

  #bury(server: Server): void {
    const { kernel, tables } = this.#parts;
    const now = kernel.timestamp();
    const nothing = {
      metadata: {},
      tags: [],
      volumes: [],
      own_ports: [],
      networked: false,
      user_data: null,
    };
    tables.servers.remove(server.id);
    const dead = { vm_state: "deleted" as const, task_state: null, updated: now, terminated_at: now };
    tables.deleted.insert({ ...server, ...nothing, ...dead });
    const oldest = tables.deleted.all()[0];
    if (oldest && tables.deleted.all().length > deletedKept) tables.deleted.remove(oldest.id);
  }
}
