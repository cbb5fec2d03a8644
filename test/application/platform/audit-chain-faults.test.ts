import { expect } from 'chai';
import { chainAudit } from '../../../application/platform/chain-audit.ts';
import { restartChains } from '../../../application/platform/restart-chains.ts';
import { type ChainHead, earlierHeadMac } from '../../../domain/platform/audit-chain.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { CHAIN_TABLES, useAuditedLog } from './audited-log.ts';
import { TENANTS, compareAcmeWithAnchors, verifyChain, writeRound } from './audited-round.ts';

describe('a chain whose head has a wrong MAC', () => {
  const log = useAuditedLog();
  const head = async (tenant: string) =>
    (
      await log
        .database()
        .query<{ seq: number; head_mac: string }>(
          'select seq, head_mac from operational.audit_heads where tenant_id = $1',
          [tenant],
        )
    )[0];

  it('is not extended, and the other chains are', async () => {
    await writeRound(log);
    await log.keep(['operational.audit_heads']);
    await log.forge((tx) =>
      tx.query(`update operational.audit_heads set head_mac = 'forged' where tenant_id = 'acme'`),
    );
    const [acme, beta] = await Promise.all(TENANTS.map(head));
    await log.append('acme');
    await log.append('beta');
    await log.sign();
    expect(await head('acme')).to.deep.equal(acme);
    expect((await head('beta'))?.seq).to.be.greaterThan(beta?.seq ?? NaN);
  });

  it('is reported with its tenant and the reason', async () => {
    const { stopped } = await chainAudit({}, log.audit());
    expect(stopped.map(({ tenant }) => tenant)).to.deep.equal(['acme']);
    expect(stopped[0]?.reason).to.contain('MAC');
    expect((await verifyChain(log)).ok).to.equal(false);
  });

  it('is extended from where it stopped when the head is put back', async () => {
    await log.forge((tx) =>
      tx.query(
        `update operational.audit_heads h set head_mac = k.head_mac from kept.copy_0 k where k.tenant_id = h.tenant_id and h.tenant_id = 'acme'`,
      ),
    );
    await log.append('acme');
    await log.sign();
    expect((await chainAudit({}, log.audit())).stopped).to.deep.equal([]);
    for (const tenant of TENANTS)
      expect(await verifyChain(log, tenant)).to.deep.include({ ok: true, first_broken: null });
  });
});

describe('a process that dies between the append of a signature and the update of the head', () => {
  const log = useAuditedLog();

  it('leaves a chain that is signed on without a gap', async () => {
    await writeRound(log);
    await log.append('acme');
    await chainAudit({}, log.audit());
    await log.keep(['operational.audit_heads', 'operational.audit_state']);
    await log.sign();
    await log.forge(async (tx) => {
      await tx.query(
        'delete from operational.audit_links l using kept.copy_0 k where l.tenant_id = k.tenant_id and l.seq > k.seq',
      );
    });
    await log.putBack();
    await log.append('acme');
    await log.sign();
    for (const tenant of TENANTS)
      expect(await verifyChain(log, tenant)).to.deep.include({ ok: true, first_broken: null });
  });
});

describe('a chain that the build before made', () => {
  const log = useAuditedLog();

  /** Turns the tables into those of the build before: no state, and heads under the earlier MAC. */
  async function makeEarlier(tx: Transaction): Promise<void> {
    const { key } = log.audit();
    const heads = await tx.query<ChainHead>(
      'select tenant_id as tenant, seq, position, mac from operational.audit_heads',
    );
    for (const head of heads)
      await tx.query('update operational.audit_heads set head_mac = $2 where tenant_id = $1', [
        head.tenant,
        earlierHeadMac(key, head),
      ]);
    await tx.query('delete from operational.audit_state');
    await tx.query(
      'insert into operational.audit_progress (position) select max(position) from operational.audit_heads',
    );
  }

  it('is adopted and verifies, and the process that made it extends it no more', async () => {
    await writeRound(log);
    await log.forge(makeEarlier);
    await log.append('acme');
    await log.sign();
    for (const tenant of TENANTS)
      expect(await verifyChain(log, tenant)).to.deep.include({ ok: true, first_broken: null });
    expect(await log.database().query('select position from operational.audit_progress')).to.deep.equal([]);
  });

  it('is not adopted again: putting the earlier tables back is found', async () => {
    await log.forge(async (tx) => {
      await makeEarlier(tx);
      await tx.query(`update operational.audit_progress set position = lpad('3', 20, '0')`);
    });
    await log.append('acme');
    await log.sign();
    expect((await verifyChain(log)).ok).to.equal(false);
  });
});

describe('chains that were started again with the key', () => {
  const log = useAuditedLog();

  it('verifyChain, and signatures and anchors of before are not compared with the new links', async () => {
    await writeRound(log);
    const anchors = await log.anchors();
    await restartChains({}, log.audit());
    await log.append('acme');
    await log.sign();
    for (const tenant of TENANTS)
      expect(await verifyChain(log, tenant)).to.deep.include({ ok: true, first_broken: null });
    expect(await compareAcmeWithAnchors(log, anchors)).to.deep.include({ ok: true, checked: 0, superseded: 1 });
  });
});

describe('chains that are older than the log, as after a restore', () => {
  const log = useAuditedLog();

  it('catch up with the signatures in the log, also those of a tenant that they do not know', async () => {
    await writeRound(log);
    await log.keep(CHAIN_TABLES);
    for (const tenant of [...TENANTS, 'gamma']) await log.append(tenant);
    await log.sign();
    await log.putBack();
    await log.append('gamma');
    await log.sign();
    expect((await chainAudit({}, log.audit())).stopped).to.deep.equal([]);
    for (const tenant of [...TENANTS, 'gamma'])
      expect(await verifyChain(log, tenant)).to.deep.include({ ok: true, first_broken: null });
  });
});
