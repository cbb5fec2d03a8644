import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { openMetrics } from '../../infrastructure/metrics/open-metrics.ts';

type Rule = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary?: string; description?: string; action?: string };
};
type Panel = {
  id: number;
  type: string;
  title: string;
  description?: string;
  targets?: { expr: string }[];
  gridPos: { x: number; y: number; w: number; h: number };
};
type Dashboard = {
  schemaVersion: number;
  templating: { list: { name: string; type: string; definition?: string }[] };
  panels: Panel[];
};

const dashboard = JSON.parse(readFileSync('ops/monitoring/grafana-dashboard.json', 'utf8')) as Dashboard;
const alerts = parse(readFileSync('ops/monitoring/alerts.yaml', 'utf8')) as {
  groups: { name: string; rules: Rule[] }[];
};
const scrape = parse(readFileSync('ops/monitoring/prometheus.yml', 'utf8')) as {
  rule_files: string[];
  scrape_configs: { job_name: string; metrics_path: string; authorization: { type: string } }[];
};

describe('the monitoring files', () => {
  const rules = alerts.groups.flatMap((group) => group.rules);
  const series = exposedSeries();

  it('query only existing metrics in panels', async () => {
    const asked = dashboard.panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => expr));
    expect(asked).to.have.length.above(20);
    expect(unknownIn(asked, await series)).to.deep.equal([]);
  });

  it('query only existing metrics in dashboard variables', async () => {
    const asked = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    expect(unknownIn(asked, await series)).to.deep.equal([]);
  });

  it('query only existing metrics in alerts', async () => {
    expect(
      unknownIn(
        rules.map(({ expr }) => expr),
        await series,
      ),
    ).to.deep.equal([]);
  });

  it('explain the meaning of every alert and what to do', () => {
    for (const { alert, labels, annotations } of rules) {
      expect(annotations, alert).to.include.all.keys('summary', 'description', 'action');
      expect(labels.severity, alert).to.be.oneOf(['page', 'ticket']);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
  });

  it('names sections of docs/operations.md that exist', () => {
    const guide = readFileSync('docs/operations.md', 'utf8');
    const named = rules.flatMap(({ annotations }) =>
      [...(annotations.action ?? '').matchAll(/docs\/operations\.md, ([^:.]+)[:.]/g)].map(([, title]) => title),
    );
    expect(named).to.not.be.empty;
    for (const title of named) expect(guide).to.match(new RegExp(`^##+ ${String(title)}$`, 'm'));
  });

  it('contain a dashboard that Grafana 10.1 and later can import with any data source', () => {
    expect(dashboard.schemaVersion).to.be.at.least(39);
    expect(dashboard.templating.list[0]).to.include({ name: 'datasource', type: 'datasource' });
    expect(JSON.stringify(dashboard).match(/"uid":"(?!\$\{datasource\}|palimpsest")[^"]*"/g)).to.equal(null);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).to.equal(dashboard.panels.length);
  });

  it('contain panels that have a description and do not overlap', () => {
    const taken = new Set<string>();
    for (const {
      title,
      type,
      description,
      gridPos: { x, y, w, h },
    } of dashboard.panels) {
      if (type !== 'row') expect(description, title).to.be.a('string').that.is.not.empty;
      expect(x + w, title).to.be.at.most(24);
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          expect(taken.has(`${column}/${line}`), `${title} overlaps another panel`).to.equal(false);
          taken.add(`${column}/${line}`);
        }
      }
    }
  });

  it('scrape the metrics route with the token', () => {
    expect(scrape.rule_files).to.deep.equal(['alerts.yaml']);
    expect(scrape.scrape_configs).to.have.length(1);
    expect(scrape.scrape_configs[0]).to.deep.include({ job_name: 'palimpsest', metrics_path: '/api/admin/metrics' });
    expect(scrape.scrape_configs[0]!.authorization.type).to.equal('Bearer');
  });
});

/** Names of all series of a new process. A histogram has three. */
async function exposedSeries(): Promise<ReadonlySet<string>> {
  const metrics = openMetrics();
  metrics.watch({
    pools: { main: { totalCount: 1, idleCount: 1, waitingCount: 0 } },
    droppedKeyRequests: () => 0,
    queuedAppends: () => 0,
    parkedStreams: () => Promise.resolve(new Map([['projection/content/2', 0]])),
  });
  const text = await metrics.text();
  metrics.close();
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    ),
  );
}

function unknownIn(expressions: readonly string[], series: ReadonlySet<string>): readonly string[] {
  const named = expressions.flatMap((expression) => expression.match(/\bpalimpsest_\w+/g) ?? []);
  return [...new Set(named)].filter((name) => !series.has(name));
}
