import { expect } from 'chai';
import { isAppError } from '../../../../domain/errors.ts';
import { withStaleStatementRefusal } from '../../../../projections/content/entries/with-stale-statement-refusal.ts';
import { useDatabase } from '../../../support/database.ts';

describe('statements made from a content type that has changed', () => {
  const database = useDatabase();
  const refused = async (work: Promise<unknown>) =>
    work.then(
      () => 'answered',
      (error: unknown) => (isAppError(error) ? error.code : 'failed'),
    );
  before(() => database.db().query('create table article (id int, title text, day text, amount int)'));

  it('are refused with ddl_in_progress when a table or column is missing or has another type', async () => {
    const reading = withStaleStatementRefusal(database.db());
    for (const text of [
      'select heading from article',
      'select title from articles',
      `select to_char(day, 'YYYY') from article`,
      `select 1 from article where amount = 'a'::text`,
      `insert into article (amount) select 'a'::text`,
      'select title::uuid[] || amount from article',
      'select 1 from article where title = any(array[1])',
    ]) {
      expect(await refused(reading.query(text)), text).to.equal('ddl_in_progress');
      expect(await refused(reading.transaction((tx) => tx.query(text))), text).to.equal('ddl_in_progress');
      expect(await refused(reading.execute(text)), text).to.equal('ddl_in_progress');
    }
  });

  it('fail with the original error otherwise', async () => {
    const reading = withStaleStatementRefusal(database.db());
    for (const text of ['selec', 'select 1/0', `select 'x'::int`])
      expect(await refused(reading.query(text)), text).to.equal('failed');
    expect(await refused(reading.query('select title from article'))).to.equal('answered');
  });
});
