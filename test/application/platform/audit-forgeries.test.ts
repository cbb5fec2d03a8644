import { expect } from 'chai';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { type AuditedLog, CHAIN_TABLES, useAuditedLog } from './audited-log.ts';
import { compareAcmeWithAnchors, verifyChain, writeRound } from './audited-round.ts';

/** Changes the data of an event in place. */
const edit = (tx: Transaction, id: string): Promise<unknown> =>
  tx.query(`update eventstore.events set data = '{"title":"forged"}' where id = $1`, [id]);

/** Removes the links from an event on, and sets the head to the link before it, as a key holder would. */
async function cutChain(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `delete from operational.audit_links l using operational.audit_links f
     where f.event_id = $1 and l.tenant_id = f.tenant_id and l.seq >= f.seq`,
    [id],
  );
  await tx.query(
    `update operational.audit_heads h set seq = l.seq, position = l.position, mac = l.mac, sealed_seq = least(sealed_seq, l.seq), unsealed = 1
     from operational.audit_links l
     where l.tenant_id = h.tenant_id and h.tenant_id = 'acme' and l.seq = (select max(seq) from operational.audit_links where tenant_id = 'acme')`,
  );
}

/** Sets the position of the chained log to just before an event, so that this event is chained again. */
async function setProgressBefore(tx: Transaction, id: string): Promise<void> {
  for (const table of ['audit_state', 'audit_progress'])
    if (await exists(tx, table))
      await tx.query(
        `update operational.${table} set position = (select lpad((position - 1)::text, 20, '0') from eventstore.events where id = $1)`,
        [id],
      );
}

async function exists(tx: Transaction, table: string): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>(`select to_regclass('operational.' || $1) is not null as found`, [
    table,
  ]);
  return row?.found === true;
}

describe('a forged step is found by verifying the chain:', () => {
  const forgeries: readonly {
    readonly title: string;
    readonly kind: string;
    /** Index of the event that the verdict names; -1: none in particular. */
    readonly names?: number;
    readonly step: (log: AuditedLog, ids: readonly string[]) => Promise<void>;
  }[] = [
    {
      title: 'edited: the data of an event',
      kind: 'edited',
      names: 1,
      step: (log, ids) => log.forge((tx) => edit(tx, ids[1]!)),
    },
    {
      title: 'edited: the data of an event and the digest of its link',
      kind: 'edited',
      names: 1,
      step: (log, ids) =>
        log.forge(async (tx) => {
          await edit(tx, ids[1]!);
          await tx.query(`update operational.audit_links set digest = 'forged' where event_id = $1`, [ids[1]]);
        }),
    },
    {
      title: 'deleted: an event',
      kind: 'missing',
      names: 1,
      step: (log, ids) => log.forge((tx) => tx.query('delete from eventstore.events where id = $1', [ids[1]])),
    },
    {
      title: 'deleted: an event and its link',
      kind: 'missing',
      step: (log, ids) =>
        log.forge(async (tx) => {
          await tx.query('delete from eventstore.events where id = $1', [ids[1]]);
          await tx.query('delete from operational.audit_links where event_id = $1', [ids[1]]);
        }),
    },
    {
      title: 'deleted: an event before it was chained',
      kind: 'missing',
      step: async (log) => {
        const id = await log.append('acme');
        await log.append('beta');
        await log.forge((tx) => tx.query('delete from eventstore.events where id = $1', [id]));
      },
    },
    {
      title: 'reordered: two events have changed places',
      kind: 'reordered',
      names: 0,
      step: (log, ids) =>
        log.forge(async (tx) => {
          const swap = 'update eventstore.events set position = $2 where position = $1';
          const rows = await tx.query<{ position: number }>(
            'select position from eventstore.events where id = any ($1) order by position',
            [[ids[0], ids[2]]],
          );
          const [first, second] = rows.map(({ position }) => position);
          await tx.query(swap, [first, -1]);
          await tx.query(swap, [second, first]);
          await tx.query(swap, [-1, second]);
        }),
    },
    {
      title: 'inserted: an event between two others',
      kind: 'reordered',
      names: 1,
      step: (log, ids) =>
        log.forge(async (tx) => {
          const at = `(select position from eventstore.events where id = '${ids[1]!}')`;
          await tx.query(
            `create temp table inserted on commit drop as select * from eventstore.events where position = ${at}`,
          );
          await tx.query(
            `update inserted set id = '01890000-0000-7000-8000-000000000001', revision = 1000, data = '{"title":"inserted"}'`,
          );
          await tx.query(
            `update eventstore.events set position = position + 1000000 where position >= (select position from inserted)`,
          );
          await tx.query(`insert into eventstore.events select * from inserted`);
          await tx.query(`update eventstore.events set position = position - 999999 where position > 1000000`);
          await tx.query(`update eventstore.head set position = position + 1`);
        }),
    },
    {
      title: 'inserted: an event in the place of a deleted one',
      kind: 'missing',
      names: 1,
      step: (log, ids) =>
        log.forge((tx) =>
          tx.query(`update eventstore.events set id = '01890000-0000-7000-8000-000000000001' where id = $1`, [ids[1]]),
        ),
    },
    {
      title: 'cut: the end of the log and of the chain, with a head that is made up',
      kind: 'missing',
      step: (log, ids) =>
        log.forge(async (tx) => {
          await cutChain(tx, ids[1]!);
          await tx.query(
            `delete from eventstore.events where tenant = 'acme' and position >= (select position from eventstore.events where id = $1)`,
            [ids[1]],
          );
        }),
    },
    {
      title: 'rewound: the head of one chain to an earlier genuine one, its later events and links removed',
      kind: 'missing',
      step: async (log) => {
        await log.keep(['operational.audit_heads']);
        const later = await log.append('acme');
        await log.sign();
        await log.forge(async (tx) => {
          await tx.query(
            `update operational.audit_heads h set (seq, position, mac, head_mac, sealed_seq, unsealed, sealed_at) =
               (select seq, position, mac, head_mac, sealed_seq, unsealed, sealed_at from kept.copy_0 k where k.tenant_id = 'acme')
             where tenant_id = 'acme'`,
          );
          const from = `(select seq from operational.audit_heads where tenant_id = 'acme')`;
          await tx.query(`delete from operational.audit_links where tenant_id = 'acme' and seq > ${from}`);
          await tx.query(
            `delete from eventstore.events where tenant = 'acme' and position >= (select position from eventstore.events where id = $1)`,
            [later],
          );
        });
      },
    },
    {
      title: 'rewound: all tables of the chain to an earlier state, and a later event edited',
      kind: 'edited',
      step: async (log) => {
        await log.keep(CHAIN_TABLES);
        const later = await log.append('acme');
        await log.sign();
        await log.putBack();
        await log.forge((tx) => edit(tx, later));
      },
    },
    {
      title: 'rewound: all tables of the chain, a later event edited, and the later signatures removed',
      kind: 'missing',
      step: async (log) => {
        await log.keep(CHAIN_TABLES);
        const later = await log.append('acme');
        await log.sign();
        await log.append('acme');
        await log.putBack();
        await log.forge(async (tx) => {
          await edit(tx, later);
          await tx.query(
            `delete from eventstore.events where category = 'audit' and position > (select position from eventstore.events where id = $1)`,
            [later],
          );
        });
      },
    },
    {
      title: 'rewound: the progress of the chain alone',
      kind: 'edited',
      step: (log, ids) => log.forge((tx) => setProgressBefore(tx, ids[1]!)),
    },
    {
      title: 'signed again: an event edited, its chain cut and the progress set back, so that it is chained again',
      kind: 'missing',
      step: (log, ids) =>
        log.forge(async (tx) => {
          await edit(tx, ids[1]!);
          await cutChain(tx, ids[1]!);
          await setProgressBefore(tx, ids[1]!);
        }),
    },
    {
      title: 'signed again: an event edited, the signatures removed, the chain cut and the progress set back',
      kind: 'missing',
      step: (log, ids) =>
        log.forge(async (tx) => {
          await edit(tx, ids[1]!);
          await cutChain(tx, ids[1]!);
          await setProgressBefore(tx, ids[1]!);
          await tx.query(`delete from eventstore.events where category = 'audit'`);
        }),
    },
    {
      title: 'signed again: an event edited and all tables of the chain emptied, as in a new database',
      kind: 'edited',
      step: (log, ids) =>
        log.forge(async (tx) => {
          await edit(tx, ids[1]!);
          for (const table of CHAIN_TABLES) await tx.query(`delete from ${table}`);
          await tx.query(`insert into operational.audit_progress (position) values (lpad('0', 20, '0'))`);
        }),
    },
    {
      title: 'signed again: an event edited and its tenant removed from the chain',
      kind: 'unsealed',
      step: (log, ids) =>
        log.forge(async (tx) => {
          await edit(tx, ids[1]!);
          await tx.query(`delete from operational.audit_links where tenant_id = 'acme'`);
          await tx.query(`delete from operational.audit_heads where tenant_id = 'acme'`);
        }),
    },
    {
      title: 'a signature replaced by an earlier genuine one',
      kind: 'edited',
      step: async (log) => {
        await log.append('acme');
        await log.sign();
        await log.forge((tx) =>
          tx.query(
            `update eventstore.events set data = (select data from eventstore.events where stream = 'audit-acme.seals' and revision = 0)
             where stream = 'audit-acme.seals' and revision = 1`,
          ),
        );
      },
    },
  ];

  for (const { title, kind, names, step } of forgeries) {
    describe(title, () => {
      const log = useAuditedLog();

      it(`is reported as ${kind}, also after more events were appended and signed`, async () => {
        const ids = await writeRound(log);
        expect(await verifyChain(log)).to.deep.include({ ok: true, first_broken: null });
        await step(log, ids);
        await log.append('acme');
        await log.append('beta');
        await log.sign();
        for (const _time of ['at once', 'again']) {
          const { ok, first_broken } = await verifyChain(log);
          expect([ok, first_broken?.kind]).to.deep.equal([false, kind]);
          if (names !== undefined) expect(first_broken?.event_id).to.equal(ids[names]);
        }
      });
    });
  }
});

describe('a forged step is found by comparing with anchors:', () => {
  const forgeries: readonly {
    readonly title: string;
    readonly kind: string;
    readonly step: (log: AuditedLog, ids: readonly string[]) => Promise<void>;
  }[] = [
    {
      title: 'restored from yesterday',
      kind: 'missing',
      step: async (log) => log.putBack(),
    },
    {
      title: 'restored from yesterday, with other events appended and signed since',
      kind: 'edited',
      step: async (log) => {
        await log.putBack();
        for (const n of [1, 2, 3, 4, 5, 6]) {
          await log.append('acme', { title: `forged ${String(n)}` });
          await log.append('beta');
        }
      },
    },
    {
      title: 'written again from the first event, with a chain of its own',
      kind: 'edited',
      step: async (log) => {
        await log.forge(async (tx) => {
          for (const table of ['eventstore.events', ...CHAIN_TABLES]) await tx.query(`delete from ${table}`);
          await tx.query('update eventstore.head set position = 0');
          await tx.query(`insert into operational.audit_progress (position) values (lpad('0', 20, '0'))`);
        });
        for (let n = 0; n < 12; n += 1) {
          await log.append('acme', { title: `forged ${String(n)}` });
          await log.append('beta');
        }
      },
    },
  ];

  for (const { title, kind, step } of forgeries) {
    describe(title, () => {
      const log = useAuditedLog();

      it(`is reported as ${kind}, although the chain alone verifies`, async () => {
        const ids = await writeRound(log);
        await log.keep();
        const later = await log.append('acme', { title: 'today' });
        await log.sign();
        const anchors = await log.anchors();
        expect(await compareAcmeWithAnchors(log, anchors)).to.deep.include({
          ok: true,
          first_broken: null,
        });
        await step(log, [...ids, later]);
        // The event store counts positions in memory of the connection that writes: it goes on with the restored head.
        await log.sign();
        expect(await verifyChain(log)).to.deep.include({ ok: true });
        const verdict = await compareAcmeWithAnchors(log, anchors);
        expect([verdict.ok, verdict.first_broken?.kind]).to.deep.equal([false, kind]);
      });
    });
  }

  describe('anchors that this installation did not sign', () => {
    const log = useAuditedLog();

    it('are counted as invalid', async () => {
      await writeRound(log);
      const [anchor = ''] = await log.anchors();
      const forged = `${anchor.slice(0, -8)}AAAAAAAA`;
      expect(await compareAcmeWithAnchors(log, [anchor, forged])).to.deep.include({ checked: 1, invalid: 1 });
    });
  });
});
