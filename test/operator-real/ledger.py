"""Rows and messages that were confirmed, and those that are still there. Runs with the files and the network of a pod.

    ledger.py rows HOST                  inserts numbered rows, one a transaction; prints each number once it is committed
    ledger.py committed HOST             prints the numbers of all rows
    ledger.py messages HOST              publishes numbered messages to a quorum queue; prints each number once it is confirmed
    ledger.py kept HOST                  prints the numbers of all messages, and leaves them in the queue

The administrator's password is the first line of the input. The first two end with the connection or the input.
"""
import os
import sys
import threading
import time

import amqp
import pymysql

# Between two writes: the machine is small.
PAUSE = 0.01


def connect_database(host, password):
    return pymysql.connect(host=host, user="root", password=password, connect_timeout=30, autocommit=True)


def rows(host, password):
    with connect_database(host, password).cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS ledger")
        cursor.execute("CREATE TABLE IF NOT EXISTS ledger.rows (number BIGINT PRIMARY KEY) ENGINE=InnoDB")
        cursor.execute("SELECT COALESCE(MAX(number), 0) FROM ledger.rows")
        number = cursor.fetchone()[0]
        while True:
            number += 1
            cursor.execute("INSERT INTO ledger.rows VALUES (%s)", (number,))
            print(number, flush=True)
            time.sleep(PAUSE)


def committed(host, password):
    with connect_database(host, password).cursor() as cursor:
        # What another member wrote before is seen here.
        cursor.execute("SET SESSION wsrep_sync_wait = 1")
        cursor.execute("SELECT number FROM ledger.rows")
        for (number,) in cursor.fetchall():
            print(number)


def channel_of(host, password):
    connection = amqp.Connection(f"{host}:5672", userid="admin", password=password, connect_timeout=30, confirm_publish=True)
    connection.connect()
    channel = connection.channel()
    channel.queue_declare("ledger", durable=True, auto_delete=False, arguments={"x-queue-type": "quorum"})
    return connection, channel


def messages(host, password):
    _, channel = channel_of(host, password)
    # Other numbers than those of an earlier writer, whose messages are still there.
    number = int(time.time()) * 1_000_000
    while True:
        number += 1
        channel.basic_publish_confirm(amqp.Message(str(number), delivery_mode=2), routing_key="ledger")
        print(number, flush=True)
        time.sleep(PAUSE)


def kept(host, password):
    connection, channel = channel_of(host, password)
    while True:
        message = channel.basic_get("ledger", no_ack=False)
        if message is None:
            break
        print(message.body)
    # Without acknowledgement they go back to the queue.
    connection.close()


if __name__ == "__main__":
    what, host = sys.argv[1:]
    secret = sys.stdin.readline().strip()

    def until_input_ends():
        sys.stdin.read()
        os._exit(0)

    if what in ("rows", "messages"):
        threading.Thread(target=until_input_ends, daemon=True).start()
    {"rows": rows, "committed": committed, "messages": messages, "kept": kept}[what](host, secret)
